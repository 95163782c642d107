import { type Browser, chromium } from "playwright-core";

/**
 * Chromium's engine and network without the windows around it, which take two thirds of the time of
 * opening a page. As root it has no sandbox.
 */
export function startBrowser(): Promise<Browser> {
  return chromium.launch({
    executablePath: "/usr/bin/chromium-headless-shell",
    args: ["--no-sandbox", "--disable-gpu", "--disable-quic"],
  });
}
