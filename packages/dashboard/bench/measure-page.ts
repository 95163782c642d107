import { type BrowserContext, chromium, type Page } from "playwright-core";
import type { Server } from "../../../tests/e2e/harness/server.ts";
import { keepApart } from "./keep-apart.ts";

export interface PageFigures {
  paint_ms: number;
  shown_ms: number;
  /**
   * Time to the first byte: the slowest of a load in the median, and of all loads. The time in
   * which the browser reads an answer is not counted.
   */
  slowestRequest_ms: number;
  slowestOfAll_ms: number;
  /** URLs of the loaded scripts. */
  scripts: string[];
  interactions: { what: string; ms: number }[];
}

const LOADS = 15;

/**
 * Loads home several times, each with an empty cache, and then uses it. Returns medians. Browser
 * and service then have one core each.
 */
export async function measurePage(server: Server, token: string, sources: number): Promise<PageFigures> {
  keepApart();
  const browser = await chromium.launch({
    executablePath: "/usr/bin/chromium-headless-shell",
    args: ["--no-sandbox", "--disable-gpu"],
  });
  const open = async (): Promise<BrowserContext> => {
    const context = await browser.newContext({
      ignoreHTTPSErrors: true,
      viewport: { width: 1280, height: 800 },
    });
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
    return context;
  };
  try {
    const loads = [];
    // The first load is not counted, because browser and service compile code then.
    for (let load = 0; load <= LOADS; load += 1) {
      const context = await open();
      const page = await load_(context, server);
      if (load > 0) loads.push(await timesOf(page));
      await context.close();
    }
    const context = await open();
    const interactions = await useIt(await load_(context, server), sources);
    return {
      paint_ms: median(loads.map(({ paint }) => paint)),
      shown_ms: median(loads.map(({ shown }) => shown)),
      slowestRequest_ms: median(loads.map(({ slowest }) => slowest)),
      slowestOfAll_ms: Math.max(...loads.map(({ slowest }) => slowest)),
      scripts: loads[0]?.scripts ?? [],
      interactions,
    };
  } finally {
    await browser.close();
  }
}

async function load_(context: BrowserContext, server: Server): Promise<Page> {
  const page = await context.newPage();
  await page.addInitScript(() => {
    new MutationObserver((_, observer) => {
      if (document.querySelector("tbody tr") === null) return;
      observer.disconnect();
      // Behind the frame that shows it.
      requestAnimationFrame(() => setTimeout(() => performance.mark("shown")));
    }).observe(document, { childList: true, subtree: true });
  });
  await page.goto(server.url);
  await page.waitForFunction(() => performance.getEntriesByName("shown").length > 0);
  return page;
}

async function timesOf(page: Page) {
  return page.evaluate(() => {
    const resources = performance
      .getEntriesByType("resource")
      .filter((entry): entry is PerformanceResourceTiming => entry instanceof PerformanceResourceTiming)
      .filter(({ name }) => !name.endsWith("/live"));
    return {
      paint: performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? Number.NaN,
      shown: performance.getEntriesByName("shown")[0]?.startTime ?? Number.NaN,
      slowest: Math.max(...resources.map(({ responseStart, requestStart }) => responseStart - requestStart)),
      scripts: resources.map(({ name }) => name).filter((name) => name.endsWith(".js")),
    };
  });
}

/** Each from the input to the next frame (Event Timing); the longest of its events. */
async function useIt(page: Page, sources: number): Promise<{ what: string; ms: number }[]> {
  await page.evaluate(() => {
    const seen: number[] = [];
    Object.assign(window, { seen });
    new PerformanceObserver((list) => {
      for (const { duration } of list.getEntries()) seen.push(duration);
    }).observe({ type: "event", buffered: false, durationThreshold: 16 } as PerformanceObserverInit);
  });
  const during = async (what: string, use: () => Promise<void>): Promise<{ what: string; ms: number }> => {
    await use();
    const ms = await page.evaluate(
      () =>
        new Promise<number>((resolve) => {
          setTimeout(() => {
            const { seen } = window as unknown as { seen: number[] };
            // Events under 16 ms are not reported.
            resolve(Math.max(16, ...seen.splice(0)));
          }, 500);
        }),
    );
    return { what: `${what}, to the next frame`, ms };
  };
  const filter = page.getByLabel("Filter sources by name");
  return [
    await during("a letter typed into the filter", () => filter.press("1")),
    await during("the filter emptied", () => filter.press("Backspace")),
    await during("90 days", async () => {
      await page.getByText("90 days", { exact: true }).click();
      await page
        .getByRole("img", { name: /^Last 90 days/ })
        .first()
        .waitFor();
    }),
    await during(`all ${sources} sources`, async () => {
      await page.getByRole("button", { name: /^Show the other/ }).click();
      await page.waitForFunction((count) => document.querySelectorAll("tbody tr").length >= count, sources);
    }),
    await during("a letter typed with all on show", () => filter.press("2")),
  ];
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN;
}
