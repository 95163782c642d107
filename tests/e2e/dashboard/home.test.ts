import { afterAll, beforeAll, expect, test } from "vitest";
import { type Dashboard, expectAccessible, openDashboard } from "./open-dashboard.ts";

let dashboard: Dashboard;
beforeAll(async () => {
  dashboard = await openDashboard();
});
afterAll(() => dashboard.close());

test("who is signed in is at home; who is not has to sign in first", async () => {
  const org = await dashboard.addOrg();
  const page = await dashboard.open(org.owner);
  await page.getByRole("heading", { name: "Home", level: 1 }).waitFor();
  await expectAccessible(page);
  const stranger = await dashboard.open(null);
  await stranger.getByRole("heading", { name: "Sign in", level: 1 }).waitFor();
  await expectAccessible(stranger);
  expect(new URL(stranger.url()).pathname).toBe("/login");
});
