import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { show } from "./accessibility.ts";
import { NARROW, SCHEMES, WIDE } from "./screens.ts";

/**
 * Takes pictures of the page as it is now, wide and narrow, light and dark, as NAME-wide-light.png
 * and so on in the directory ATTESTORE_SCREENSHOTS. Does nothing if that is not set. Leaves the
 * page wide and light.
 */
export async function screenshotsOf(page: Page, name: string): Promise<void> {
  const directory = process.env["ATTESTORE_SCREENSHOTS"] ?? "";
  if (directory === "") return;
  mkdirSync(directory, { recursive: true });
  for (const [screen, size] of Object.entries({ wide: WIDE, narrow: NARROW })) {
    await page.setViewportSize(size);
    for (const colorScheme of SCHEMES) {
      await show(page, colorScheme);
      await page.screenshot({
        path: join(directory, `${name}-${screen}-${colorScheme}.png`),
        fullPage: true,
        animations: "disabled",
      });
    }
  }
  await page.setViewportSize(WIDE);
  await show(page, "light");
}
