import type { Browser, BrowserContext, Page } from "playwright-core";
import { onTestFinished } from "vitest";
import { WIDE } from "./screens.ts";

const spoiled = new WeakSet<BrowserContext>();

/** For a test that changes its browser context in a way that is not undone for the next test. */
export function neverReuse(page: Page): void {
  spoiled.add(page.context());
}

/**
 * The pages of one service. A test's page is given to the next test without cookies, storage,
 * routes and listeners; only the browser's cache of the dashboard's files is kept, so that a first
 * visit, with nothing in that cache, is what each file's first test makes.
 */
export class ReusedPages {
  readonly #browser: Browser;
  readonly #origin: string;
  readonly #idle: Page[] = [];

  constructor(browser: Browser, origin: string) {
    this.#browser = browser;
    this.#origin = origin;
  }

  /** Taken back when the test is over; outside of a test, in a hook, the page is kept open. */
  async take(): Promise<Page> {
    const page = this.#idle.pop() ?? (await this.#newPage());
    try {
      onTestFinished(() => this.#takeBack(page));
    } catch {
      // Vitest says so of a call that no test makes.
    }
    return page;
  }

  async #newPage(): Promise<Page> {
    const context = await this.#browser.newContext({
      // The certificate comes from a CA that the service has just made.
      ignoreHTTPSErrors: true,
      viewport: WIDE,
      reducedMotion: "reduce",
      locale: "en-GB",
      timezoneId: "Europe/Berlin",
    });
    // As for `until`: a busy machine takes long for what it does in a second when idle.
    context.setDefaultTimeout(60_000);
    return context.newPage();
  }

  async #takeBack(page: Page): Promise<void> {
    const context = page.context();
    if (spoiled.has(context) || page.isClosed() || context.pages().length !== 1) return context.close();
    for (const event of ["request", "console", "pageerror"] as const) page.removeAllListeners(event);
    // A route that is still at work would answer a request of the page that is left.
    await page.unrouteAll({ behavior: "ignoreErrors" });
    await context.unrouteAll({ behavior: "ignoreErrors" });
    // Cleared by a document that writes nothing: the dashboard's might, until it is left.
    await page.route(`${this.#origin}/`, (route) => route.fulfill({ contentType: "text/html", body: "" }));
    await page.goto(`${this.#origin}/`);
    await page.evaluate(() => {
      localStorage.clear();
      sessionStorage.clear();
    });
    await page.unrouteAll();
    await page.goto("about:blank");
    await context.clearCookies();
    await page.setViewportSize(WIDE);
    await page.emulateMedia({ colorScheme: "light", reducedMotion: "reduce" });
    await page.mouse.move(0, 0);
    this.#idle.push(page);
  }
}
