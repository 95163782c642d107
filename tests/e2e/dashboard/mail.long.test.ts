/** In the browser: where codes and mails go, with a mail server and without one. */
import { afterEach, expect, test } from "vitest";
import { startSmtpServer, type TestSmtpServer } from "../../../packages/orchestrator/test/smtp.ts";
import { until } from "../harness/wait.ts";
import { type Dashboard, expectAccessible, openDashboard, screenshotsOf } from "./open-dashboard.ts";

let dashboard: Dashboard | undefined;
let smtp: TestSmtpServer | undefined;
afterEach(async () => {
  await dashboard?.close();
  await smtp?.close();
  dashboard = smtp = undefined;
});

const EMAIL = "first.person@example.org";

test("without a mail server, sign-in says where the code is, and Notifications that nobody gets mails", async () => {
  dashboard = await openDashboard();
  const page = await dashboard.open(null, "/signup");
  await page.getByLabel("Name of your organisation").fill("Printed");
  await page.getByLabel("E-mail address").fill(EMAIL);
  await page.getByRole("button", { name: "Send me a code" }).click();
  await page.getByText(`The code for ${EMAIL} is on the service's console.`).waitFor();
  await page.getByText("This service has no mail server, so it prints codes where it runs").waitFor();
  expect(await page.getByText("We have sent").count()).toBe(0);
  await expectAccessible(page);
  await screenshotsOf(page, "signup-printed-code");
  await page.getByLabel("Code").fill(await dashboard.codeFor(EMAIL));
  await page.getByRole("button", { name: "Create the organisation" }).click();
  await page.getByRole("navigation").getByRole("link", { name: "Notifications" }).click();
  await page.getByRole("status").getByText("This service has no mail server").waitFor();
  await expectAccessible(page);
  await screenshotsOf(page, "notifications-no-mail");

  const signedOut = await dashboard.open(null, "/login");
  await signedOut.getByLabel("E-mail address").fill(EMAIL);
  await signedOut.getByRole("button", { name: "Send me a code" }).click();
  await signedOut.getByText(`If ${EMAIL} has an account, its code is on the service's console.`).waitFor();
});

test("with a mail server, sign-up says that the code was mailed, and Notifications has no warning", async () => {
  smtp = await startSmtpServer();
  const { received } = smtp;
  dashboard = await openDashboard({ ATTESTORE_SMTP_URL: `smtp://127.0.0.1:${smtp.port}` });
  const page = await dashboard.open(null, "/signup");
  await page.getByLabel("Name of your organisation").fill("Mailed");
  await page.getByLabel("E-mail address").fill(EMAIL);
  await page.getByRole("button", { name: "Send me a code" }).click();
  await page.getByText(`We have sent a code to ${EMAIL}.`).waitFor();
  const code = await until("the mail server has the code", () => {
    const message = received.find(({ to }) => to.includes(EMAIL))?.message ?? "";
    return /^ {4}([A-Z0-9]{4}-[A-Z0-9]{4})\r?$/m.exec(message)?.[1];
  });
  await page.getByLabel("Code").fill(code);
  expect(await page.getByText("no mail server").count()).toBe(0);
  await page.getByRole("button", { name: "Create the organisation" }).click();
  await page.getByRole("navigation").waitFor();
  const answered = page.waitForResponse("**/api/auth/signup");
  await page.goto(`${dashboard.server.url}/notifications`);
  expect(await (await answered).json()).toMatchObject({ codes: "mail" });
  await page.getByText("Nobody is notified yet").waitFor();
  expect(await page.getByText("no mail server").count()).toBe(0);
});
