import type { Page } from "playwright-core";

const heard = new WeakMap<Page, string[]>();

/** Notes every uncaught error of the page, and what the browser says of it: a violated policy, React's warnings. */
export function listenForComplaints(page: Page): void {
  const complaints: string[] = [];
  heard.set(page, complaints);
  page.on("pageerror", (error) => complaints.push(`uncaught: ${error.message}`));
  page.on("console", (message) => {
    // A refusal is an answer; whether the page takes it well is what its test says.
    const refused = message.text().startsWith("Failed to load resource");
    if (message.type() === "error" && !refused) complaints.push(message.text());
  });
}

export function complaintsOf(page: Page): readonly string[] {
  const complaints = heard.get(page);
  if (complaints === undefined) throw new Error("nobody listens to this page: open it by openDashboard");
  return complaints;
}
