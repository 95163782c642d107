import { spawn } from "node:child_process";
import { once } from "node:events";
import { afterAll, beforeAll, expect, test } from "vitest";
import { TestServer } from "../../packages/orchestrator/test/test-server.ts";
import { readPage } from "./error-codes.ts";

let server: TestServer;
beforeAll(async () => {
  server = await TestServer.create();
  await server.serve();
});
afterAll(() => server.remove());

test("the commands of docs/api-quickstart.md do what the page says, also when somebody repeats them", async () => {
  const page = readPage("api-quickstart.md");
  const blocks = Array.from(
    page.matchAll(/<!-- runs: quickstart -->\n```sh\n([^]*?)```/g),
    ([, block = ""]) => block,
  );
  expect(blocks.length).toBe(page.split("```sh").length - 1);
  // A port of its own; `data` is where the commands run.
  const script = blocks.join("\n").replaceAll("localhost:8443", `localhost:${server.port}`);
  // The second time, the service has accounts and mails of earlier attempts.
  await follow(script);
  await follow(script);
});

async function follow(script: string): Promise<void> {
  const shell = spawn("bash", ["-euo", "pipefail", "-c", script], {
    cwd: `${server.data}/..`,
    stdio: ["ignore", "pipe", "pipe"],
  });
  let said = "";
  let told = "";
  shell.stdout.on("data", (text) => (told += String(text)));
  for (const stream of [shell.stdout, shell.stderr]) stream.on("data", (text) => (said += String(text)));
  const [code] = (await once(shell, "close")) as [number];
  expect(code, said).toBe(0);
  expect(told).toContain('"not_proven_because": "never_backed_up"');
  expect(told).toMatch(/agent_attached log entry 0/);
  expect(told).toMatch(/source_configured log entry \d/);
  expect(told).toMatch(/^\/slug must match pattern/m);
}
