import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { startSmtpServer, type TestSmtpServer } from "../../test/smtp.ts";
import { TestServer } from "../../test/test-server.ts";

let server: TestServer;
let smtp: TestSmtpServer;
beforeEach(async () => {
  [server, smtp] = await Promise.all([TestServer.create(), startSmtpServer()]);
});
afterEach(() => Promise.all([server.remove(), smtp.close()]));

const EMAIL = "first.person@example.org";
const CODE = /^ {4}([A-Z0-9]{4}-[A-Z0-9]{4})\r?$/m;
const signup = { email: EMAIL, org_name: "Mailed" };

async function verify(message: string): Promise<number> {
  const code = CODE.exec(message)?.[1];
  if (code === undefined) throw new Error(`there is no code in ${message}`);
  return (await server.send("POST", "/api/auth/signup/verify", { email: EMAIL, code })).status;
}

test("somebody signs up with the code that the mail server was handed", async () => {
  const running = await server.serve({
    ATTESTORE_SMTP_URL: `smtp://127.0.0.1:${smtp.port}`,
    ATTESTORE_MAIL_FROM: "Backups <backups@example.org>",
  });
  const { body } = await server.send("GET", "/api/auth/signup");
  expect(JSON.parse(body.toString())).toMatchObject({ codes: "mail" });
  expect((await server.send("POST", "/api/auth/signup", signup)).status).toBe(202);
  await expect.poll(() => smtp.received.length).toBe(1);
  expect(smtp.received[0]).toMatchObject({ from: "backups@example.org", to: [EMAIL] });
  expect(await verify(smtp.received[0]?.message ?? "")).toBe(200);
  running.process.kill("SIGTERM");
  const { exitCode, stdout, stderr } = await running.finished;
  expect([exitCode, stderr]).toEqual([0, ""]);
  expect(stdout).not.toMatch(/[A-Z0-9]{4}-[A-Z0-9]{4}/);
  await expect(stat(join(server.data, "mail"))).rejects.toMatchObject({ code: "ENOENT" });
});

test("kill -9 before the mail server takes it: the next start sends it, and the code works", async () => {
  smtp.refuseWith = "try again later";
  const environment = { ATTESTORE_SMTP_URL: `smtp://127.0.0.1:${smtp.port}` };
  const running = await server.serve(environment);
  expect((await server.send("POST", "/api/auth/signup", signup)).status).toBe(202);
  await running.said("a mail could not be sent; trying again");
  running.process.kill("SIGKILL");
  await running.finished;
  smtp.refuseWith = null;
  await server.serve(environment);
  await expect.poll(() => smtp.received.length).toBe(1);
  expect(await verify(smtp.received[0]?.message ?? "")).toBe(200);
});

test("without a mail server the code is on the console, beside the log, and in a file", async () => {
  const running = await server.serve();
  const { body } = await server.send("GET", "/api/auth/signup");
  expect(JSON.parse(body.toString())).toMatchObject({ codes: "console" });
  expect((await server.send("POST", "/api/auth/signup", signup)).status).toBe(202);
  const directory = join(server.data, "mail");
  const files = (): Promise<string[]> =>
    readdir(directory).then(
      (names) => names.filter((name) => name.endsWith(".eml")),
      () => [],
    );
  await expect.poll(files).toHaveLength(1);
  const message = await readFile(join(directory, (await files())[0] ?? ""), "utf8");
  expect(await verify(message)).toBe(200);
  running.process.kill("SIGTERM");
  const { stdout, stderr } = await running.finished;
  const code = CODE.exec(message)?.[1] ?? "";
  expect(stderr).toContain(`--- mail to ${EMAIL}: Your Attestore signup code`);
  expect(stderr).toContain(code);
  expect(stdout).not.toContain(code);
});
