import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Browser, Page, Request } from "playwright-core";
import type { Server } from "../../tests/e2e/harness/server.ts";
import { until } from "../../tests/e2e/harness/wait.ts";
import { NARROW, SCHEMES, WIDE } from "../../tests/e2e/dashboard/screens.ts";

export interface Shot {
  name: string;
  path: string;
  /** Whose session; null for nobody's. */
  token: string | null;
  /** What is done on the page before it is shot. */
  prepare?: (page: Page) => Promise<void>;
}

/** The page NAME as NAME-wide-light.png and so on, four times. */
export async function shoot(browser: Browser, server: Server, directory: string, shot: Shot): Promise<void> {
  const context = await browser.newContext({
    ignoreHTTPSErrors: true,
    viewport: WIDE,
    reducedMotion: "reduce",
    locale: "en-GB",
    timezoneId: "Europe/Berlin",
  });
  context.setDefaultTimeout(60_000);
  try {
    const { token } = shot;
    if (token !== null)
      await context.addCookies([
        {
          name: "__Host-attestore_session",
          value: token,
          url: server.url,
          httpOnly: true,
          secure: true,
          sameSite: "Strict",
        },
      ]);
    const page = await context.newPage();
    const isQuiet = followCalls(page);
    await page.goto(server.url + shot.path);
    await page.getByRole("heading", { level: 1 }).first().waitFor();
    await shot.prepare?.(page);
    await until("nothing is on its way any more", async () => isQuiet() && (await isShown(page)));
    mkdirSync(directory, { recursive: true });
    for (const [screen, size] of Object.entries({ wide: WIDE, narrow: NARROW }))
      for (const colorScheme of SCHEMES) {
        await page.setViewportSize(size);
        await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
        await page.locator(`html[data-mantine-color-scheme="${colorScheme}"]`).waitFor();
        // Elements that are fixed to the window are drawn where the window is.
        await page.evaluate(() => window.scrollTo(0, 0));
        await page.screenshot({
          path: join(directory, `${shot.name}-${screen}-${colorScheme}.png`),
          fullPage: true,
          animations: "disabled",
        });
      }
  } finally {
    await context.close();
  }
}

/** Whether all calls are answered; what the service pushes never ends. */
function followCalls(page: Page): () => boolean {
  const underWay = new Set<Request>();
  page.on("request", (request) => {
    if (request.resourceType() !== "eventsource") underWay.add(request);
  });
  const answered = (request: Request): void => void underWay.delete(request);
  page.on("requestfinished", answered);
  page.on("requestfailed", answered);
  return () => underWay.size === 0;
}

async function isShown(page: Page): Promise<boolean> {
  return page.evaluate(() => document.querySelector('[aria-busy="true"]') === null);
}
