import type { Page } from "playwright-core";

export const heading = (page: Page, name: string | RegExp) => page.getByRole("heading", { level: 1, name });

export async function verdictIs(page: Page, expected: "true" | "false" | "cannot_tell"): Promise<void> {
  await page.locator(`[data-verdict="${expected}"]`).waitFor();
}

/** The ids of the checks with this result. */
export const checksThat = (page: Page, result: string): Promise<(string | null)[]> =>
  page
    .locator(`[data-result="${result}"]`)
    .evaluateAll((found) => found.map((each) => each.getAttribute("data-check")));

export const line = (page: Page, check: string) => page.locator(`[data-check="${check}"]`);
export const verdict = (page: Page) => page.locator("[data-verdict]");
