import { AxeBuilder } from "@axe-core/playwright";
import type { Page } from "playwright-core";
import { expect } from "vitest";
import { complaintsOf } from "./complaints.ts";
import { NARROW, SCHEMES, WIDE } from "./screens.ts";

/**
 * Everybody can use the page as it is now: axe finds nothing, in light and in dark; on a narrow screen nothing has to be scrolled
 * sideways; and the browser has nothing to complain of. Leaves it wide and light.
 */
export async function expectAccessible(page: Page): Promise<void> {
  for (const colorScheme of SCHEMES) {
    await show(page, colorScheme);
    // There are no frames to put together, for which it would open a second page each time.
    const axe = new AxeBuilder({ page }).setLegacyMode();
    // In dark the same elements have other colours, and nothing else is new to find.
    const { violations } = await (colorScheme === "dark" ? axe.withRules("color-contrast") : axe).analyze();
    const found = violations.flatMap(({ id, help, nodes }) =>
      nodes.map(({ target, html, failureSummary }) =>
        [`${id}: ${help}`, `at ${target.join(" ")}`, html, failureSummary ?? ""].join("\n"),
      ),
    );
    expect(found, [`what axe finds in ${colorScheme} at ${page.url()}`, ...found].join("\n")).toEqual([]);
  }
  await page.setViewportSize(NARROW);
  // What floats above the page takes its new place a moment after the window has its new size.
  await expect
    .poll(() => page.evaluate(whatSticksOut), { message: "to be scrolled sideways to at 360" })
    .toEqual([]);
  await page.setViewportSize(WIDE);
  await show(page, "light");
  const complaints = complaintsOf(page);
  expect(complaints, ["what the browser complains of", ...complaints].join("\n")).toEqual([]);
}

/** Where the page is wider than the screen: the elements that end beyond it. */
function whatSticksOut(): string[] {
  const { scrollWidth, clientWidth } = document.documentElement;
  if (scrollWidth <= clientWidth) return [];
  const beyond = [...document.querySelectorAll("body *")].filter(
    (element) => element.getBoundingClientRect().right > clientWidth + 0.5,
  );
  return [`${scrollWidth - clientWidth} pixels`, ...beyond.map(({ outerHTML }) => outerHTML.slice(0, 300))];
}

/** Shows the page in a colour scheme, once the page has taken it over. */
export async function show(page: Page, colorScheme: (typeof SCHEMES)[number]): Promise<void> {
  await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
  await page.locator(`html[data-mantine-color-scheme="${colorScheme}"]`).waitFor();
}
