import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, watch, writeFileSync } from "node:fs";
import { join } from "node:path";
import { formatPublicKeyWire, parseBundle, parsePublicKeyFile, sshFingerprint } from "@attestore/proof";
import { afterEach, beforeEach, expect, it } from "vitest";
import { type Finished, jsonOf, runCli, startCli } from "./service/cli.ts";
import { attachedRoot, type TestRoot } from "./service/test-root.ts";
import { failure, TestService } from "./service/test-service.ts";

/**
 * Rotation of the signing key of an attached agent. The service's side, for real:
 * features/agents/key-rotation.test.ts.
 */

let service: TestService;
let root: TestRoot;

beforeEach(async () => {
  service = await TestService.start();
  root = await attachedRoot(service, "  papers: { engine: files, path: papers }\n");
  mkdirSync(join(root.layout.root, "papers"));
  writeFileSync(join(root.layout.root, "papers/one.txt"), "one\n");
});
afterEach(async () => {
  root.remove();
  await service.stop();
});

const env = () => ({ env: { ATTESTORE_HOME: root.layout.root } });
const cli = (...args: string[]): Promise<Finished> => runCli(args, env());
const json = <T = Record<string, unknown>>(args: string[], code = 0): Promise<T> =>
  jsonOf<T>(cli(...args, "--json"), code);
const rotate = ["keys", "rotate", "signing", "--yes"];
const inUse = (): string => sshFingerprint(parsePublicKeyFile(readFileSync(root.layout.publicKey, "utf8")));
const known = (): string => (service.publicKey === null ? "" : sshFingerprint(service.publicKey));
const retiredFiles = (): string[] => readdirSync(join(root.layout.keys, "retired"));

/** All that waits is accepted, each receipt in its bundle with the key that signed it. */
async function expectAllAccepted(count: number): Promise<void> {
  expect(await json(["receipts", "verify"])).toEqual({ verified: count, wrong: [] });
  expect(readdirSync(root.layout.receiptsWaiting)).toEqual([]);
  expect(readdirSync(root.layout.receiptsRefused)).toEqual([]);
  expect(service.receipts).toHaveLength(count);
}

it("a key that signed for a future moment, because the clock was ahead, is kept until then", async () => {
  const before = inUse();
  service.interfere = ({ route }) =>
    route === "POST /v1/receipts" ? failure(503, "unavailable", "x") : undefined;
  expect(await json(["backup"])).toMatchObject({ receipt: "waiting" });
  service.interfere = () => undefined;
  const [name = ""] = readdirSync(root.layout.receiptsWaiting);
  const file = join(root.layout.receiptsWaiting, name);
  const signed = readFileSync(file, "utf8");
  const saysThatItEnded = (at: string): string => {
    const waiting = JSON.parse(signed) as { envelope: { payload: string } };
    const statement = Buffer.from(waiting.envelope.payload, "base64")
      .toString("utf8")
      .replace(/"finished_at":"[^"]*"/, `"finished_at":"${at}"`);
    const payload = Buffer.from(statement).toString("base64");
    return JSON.stringify({ ...waiting, envelope: { ...waiting.envelope, payload } });
  };
  const ahead = new Date(Date.now() + 3_600_000).toISOString();
  writeFileSync(file, saysThatItEnded(ahead));
  expect(await json(rotate, 2)).toMatchObject({
    error: "clock_ahead",
    message: expect.stringContaining(ahead) as string,
  });
  expect([inUse(), known()]).toEqual([before, before]);
  // A receipt that the service refused is in no log, and a damaged file says nothing. A key that is
  // in other hands need not wait for either.
  const refused = join(root.layout.receiptsRefused, "00000009-backup.json");
  writeFileSync(refused, saysThatItEnded(ahead));
  writeFileSync(file, "{");
  expect(await json(rotate)).toMatchObject({ before, accepted: true });
  rmSync(refused);
  writeFileSync(file, signed);
  await json(["sync"]);
  await expectAllAccepted(1);
});

it("the agent signs with the new key from then on, submits receipts that the old one signed, and a running agent follows", async () => {
  const before = inUse();
  const agent = startCli(["run"], env());
  try {
    await agent.said("attestore runs as");
    // A receipt that the old key signed waits in the spool.
    service.interfere = ({ route }) =>
      route === "POST /v1/receipts" ? failure(503, "unavailable", "x") : undefined;
    expect(await json(["backup"])).toMatchObject({ receipt: "waiting" });
    service.interfere = () => undefined;
    const told = await json<{ in_use: string; accepted: boolean }>(rotate);
    expect(told).toMatchObject({ before, accepted: true });
    expect(inUse()).toBe(told.in_use);
    expect(known()).toBe(told.in_use);
    // Only the public half of the old key is kept.
    expect(retiredFiles().map((name) => name.split(".").at(-1))).toEqual(["pub"]);

    service.command("backup", "papers", "files");
    while (service.receipts.length < 2)
      await agent.said("").then(() => new Promise((later) => setTimeout(later, 50)));
  } finally {
    agent.process.kill("SIGTERM");
    await agent.finished;
  }
  await expectAllAccepted(2);
  const keys = readdirSync(root.layout.receipts)
    .filter((name) => name.endsWith(".json"))
    .map((name) => parseBundle(readFileSync(join(root.layout.receipts, name))).public_key);
  expect(keys).toEqual(
    [service.retired[0]?.publicKey, service.publicKey].map((key) => key && formatPublicKeyWire(key)),
  );
  // And once more: keys follow one another.
  await json(rotate);
  expect(service.retired).toHaveLength(2);
});

it("changes nothing if the service is away or refuses the new key", async () => {
  const before = inUse();
  service.interfere = ({ route }) =>
    route === "POST /v1/agent/key" ? failure(404, "not_found", "no such path") : undefined;
  expect(await json(rotate, 2)).toMatchObject({ error: "refused" });
  expect([inUse(), retiredFiles()]).toEqual([before, []]);
  service.interfere = () => undefined;
  expect(await json(["backup"])).toMatchObject({ receipt: "accepted" });
  await service.stop();
  expect(await json(rotate, 2)).toMatchObject({ error: "unreachable" });
  expect(inUse()).toBe(before);
});

it("both keys are kept until the service answers, and the rotation is sent again before any receipt", async () => {
  const before = inUse();
  service.interfere = ({ route }) =>
    route === "POST /v1/agent/key" ? failure(503, "unavailable", "x") : undefined;
  expect(await json(rotate)).toMatchObject({ accepted: false });
  expect(inUse()).not.toBe(before);
  expect(
    retiredFiles()
      .map((name) => name.split(".").at(-1))
      .toSorted((a = "", b = "") => (a < b ? -1 : 1)),
  ).toEqual(["key", "pub"]);
  expect(await json(["backup"])).toMatchObject({ receipt: "waiting" });
  expect(service.receipts).toEqual([]);
  service.interfere = () => undefined;
  expect(await json(["sync"])).toMatchObject({ accepted: 1 });
  expect(known()).toBe(inUse());
  await expectAllAccepted(1);
});

const POINTS: [name: string, kill: (kill: () => void) => void][] = [
  ["when the new key is there", (kill) => watchFor(root.layout.keys, /^agent\.next\.key$/, kill)],
  [
    "when the statement is there",
    (kill) => watchFor(join(root.layout.keys, "rotations"), /signing\.json$/, kill),
  ],
  ["when agent.key is the new one", (kill) => watchFor(root.layout.keys, /^agent\.key$/, kill)],
  ["before the service hears of it", (kill) => atRoute("cut", kill)],
  ["before it hears of the service's answer", (kill) => atRoute("cut-after", kill)],
  [
    "when the answer is written down",
    (kill) => watchFor(join(root.layout.keys, "rotations"), /accepted\.json$/, kill),
  ],
];

function watchFor(directory: string, name: RegExp, kill: () => void): void {
  mkdirSync(directory, { recursive: true });
  const watcher = watch(directory, (_event, found) => {
    if (found === null || !name.test(found)) return;
    watcher.close();
    kill();
  });
}

function atRoute(moment: "cut" | "cut-after", kill: () => void): void {
  service.interfere = ({ route }) => {
    if (route !== "POST /v1/agent/key") return undefined;
    kill();
    return moment;
  };
}

it.each(POINTS)("the agent survives kill -9 %s: receipts signed afterwards are accepted", async (_, at) => {
  const victim = startCli(rotate, env());
  at(() => victim.process.kill("SIGKILL"));
  expect((await victim.finished).code).toBe("SIGKILL");
  service.interfere = () => undefined;
  expect(await json(["backup"])).toMatchObject({ receipt: "accepted" });
  await json(rotate);
  expect(await json(["restore-test"])).toMatchObject({ result: "passed", receipt: "accepted" });
  await expectAllAccepted(2);
  expect(known()).toBe(inUse());
  expect(retiredFiles().filter((name) => name.endsWith(".key"))).toEqual([]);
  expect(existsSync(join(root.layout.keys, "agent.next.key"))).toBe(false);
});
