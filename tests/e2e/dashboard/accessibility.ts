import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { AxeBuilder } from "@axe-core/playwright";
import type { Page } from "playwright-core";
import { expect } from "vitest";
import { complaintsOf } from "./complaints.ts";
import { NARROW, SCHEMES, WIDE } from "./screens.ts";

/** axe, minified: half the size for the browser to parse. */
const AXE = readFileSync(
  createRequire(createRequire(import.meta.url).resolve("@axe-core/playwright")).resolve(
    "axe-core/axe.min.js",
  ),
  "utf8",
);

/**
 * Checks that everybody can use the page as it is now: axe finds nothing, in light and dark; a
 * narrow screen needs no sideways scrolling; and the browser has no complaints. Leaves the page
 * wide and light.
 */
export async function expectAccessible(page: Page): Promise<void> {
  // Load axe into a document once: the builder would load it twice for each analysis, which takes
  // longer than the analysis.
  if (!(await page.evaluate("'axe' in window"))) await page.evaluate(AXE);
  for (const colorScheme of SCHEMES) {
    await show(page, colorScheme);
    // There are no frames to merge, for which it would open a second page each time.
    const axe = new AxeBuilder({ page, axeSource: ";" })
      .setLegacyMode()
      .options({ resultTypes: ["violations"] });
    // In dark, only the colours of the same elements differ.
    const { violations } = await (colorScheme === "dark" ? axe.withRules("color-contrast") : axe).analyze();
    const found = violations.flatMap(({ id, help, nodes }) =>
      nodes.map(({ target, html, failureSummary }) =>
        [`${id}: ${help}`, `at ${target.join(" ")}`, html, failureSummary ?? ""].join("\n"),
      ),
    );
    expect(found, [`what axe finds in ${colorScheme} at ${page.url()}`, ...found].join("\n")).toEqual([]);
  }
  await page.setViewportSize(NARROW);
  // Floating elements move a moment after the window is resized.
  await expect
    .poll(() => page.evaluate(whatSticksOut), { message: "to be scrolled sideways to at 360" })
    .toEqual([]);
  await page.setViewportSize(WIDE);
  await show(page, "light");
  const complaints = complaintsOf(page);
  expect(complaints, ["what the browser complains of", ...complaints].join("\n")).toEqual([]);
}

/** The elements that extend beyond the screen's right edge. */
function whatSticksOut(): string[] {
  const { scrollWidth, clientWidth } = document.documentElement;
  if (scrollWidth <= clientWidth) return [];
  const beyond = [...document.querySelectorAll("body *")].filter(
    (element) => element.getBoundingClientRect().right > clientWidth + 0.5,
  );
  return [`${scrollWidth - clientWidth} pixels`, ...beyond.map(({ outerHTML }) => outerHTML.slice(0, 300))];
}

/**
 * Ends colour transitions, but not endless animations. Nothing waits for them: Chromium never
 * resolves the `finished` promise of one whose element was hidden in the meantime.
 */
function endTransitions(): void {
  for (const animation of document.getAnimations()) {
    const isEndless = animation.effect?.getComputedTiming().endTime === Infinity;
    if (animation.playState === "running" && !isEndless) animation.finish();
  }
}

/** Switches the colour scheme, and waits until the page has applied it. */
export async function show(page: Page, colorScheme: (typeof SCHEMES)[number]): Promise<void> {
  await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
  await page.locator(`html[data-mantine-color-scheme="${colorScheme}"]`).waitFor();
  await page.evaluate(endTransitions);
}
