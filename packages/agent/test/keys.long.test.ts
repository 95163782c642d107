import { execFileSync } from "node:child_process";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  envelopeFromJson,
  parsePublicKeyFile,
  publicKeyToSpki,
  verifyEnvelope,
  type EnvelopeJson,
  type PublicKey,
} from "@attestore/proof";
import { generateX25519Identity, identityToRecipient } from "age-encryption";
import { afterEach, beforeEach, expect, it } from "vitest";
import { layoutOf } from "../src/state/layout.ts";
import { isLocked, lockHolder, tryLock } from "../src/state/lock.ts";
import { type Finished, jsonOf, runCli, startCli } from "./service/cli.ts";
import { startOnTerminal } from "./terminal/type-into.ts";

let base: string;
let root: string;
beforeEach(async () => {
  base = mkdtempSync(join(tmpdir(), "attestore-keys-"));
  root = join(base, "root");
  mkdirSync(at("papers"));
  writeFileSync(at("papers/one.txt"), "one\n");
  await json(["init", "--standalone"]);
  const file = join(root, "config.yaml");
  writeFileSync(
    file,
    `${readFileSync(file, "utf8")}\nsources: { papers: { engine: files, path: ${at("papers")} } } # ours\n`,
  );
});
afterEach(() => rmSync(base, { recursive: true }));

const at = (...path: string[]): string => join(base, ...path);
const cli = (args: string[], stdin?: string): Promise<Finished> =>
  runCli(args, { env: { ATTESTORE_HOME: root }, cwd: base, ...(stdin === undefined ? {} : { stdin }) });

const json = <T = Record<string, unknown>>(args: string[], code = 0, stdin?: string): Promise<T> =>
  jsonOf<T>(cli([...args, "--json"], stdin), code);

const publicKeyAt = (path: string): PublicKey => parsePublicKeyFile(readFileSync(join(root, path), "utf8"));

interface Advice {
  readonly advice: { readonly what: string; readonly next: string }[];
}

function storedBackup(): string {
  const directory = join(root, "blobs/stored/papers");
  const newest = readdirSync(directory).toSorted().at(-1) ?? "";
  return join(directory, newest);
}

const filesIn = (archive: Buffer): string =>
  execFileSync("sh", ["-c", "zstd -dc | tar -t"], { input: archive }).toString();

it("the recovery kit lets age read the backups, and status asks for it until it was tested", async () => {
  expect((await json<Advice>(["status"], 1)).advice).toMatchObject([{ next: "attestore keys recovery-kit" }]);
  const { recipient } = await json<{ recipient: string }>(["keys", "recovery-kit", "--output", "kit.txt"]);
  expect(statSync(at("kit.txt")).mode & 0o777).toBe(0o600);
  const config = readFileSync(join(root, "config.yaml"), "utf8");
  expect(config).toContain(recipient);
  expect(config).toContain("# ours");
  expect(execFileSync("grep", ["-rlF", "AGE-SECRET-KEY-1", root]).toString().trim()).toBe(
    join(root, "keys/age.key"),
  );
  expect((await json<Advice>(["status"], 1)).advice[0]?.what).toContain("never tested");

  const kit = readFileSync(at("kit.txt"), "utf8");
  const [key = ""] = /AGE-SECRET-KEY-1[A-Z0-9]+/.exec(kit) ?? [];
  expect(kit).toContain("papers (files)");
  // On a new host, whose receipts to trust; and the kit does not claim older backups.
  const { key_fingerprint } = await json<{ key_fingerprint: string }>(["keys", "export"]);
  expect(kit).toContain(`\nsigned by ${key_fingerprint}\n`);
  expect(kit).toContain("the backups named below that were made after it");
  await json(["backup"]);
  writeFileSync(at("age.key"), `${key}\n`);
  expect(filesIn(execFileSync("age", ["-d", "-i", at("age.key"), storedBackup()]))).toContain("one.txt");

  // Typed in lower case and with blanks, as from paper; then with a slip; then another key.
  const typed = key.toLowerCase().replaceAll(/(.{8})/g, "$1 ");
  const asked = ["keys", "recovery-kit", "--test", "--identity", "-"];
  expect(await json([...asked, "--file", storedBackup()], 0, `${typed}\n`)).toMatchObject({
    result: "passed",
  });
  expect((await json<Advice>(["status"], 1)).advice).toEqual([]);
  const slip = key.replace(/.$/, key.endsWith("Q") ? "P" : "Q");
  const refused = await cli(asked, slip);
  expect(refused.code).toBe(2);
  expect(refused.stderr + refused.stdout).not.toContain(slip);
  const other = readFileSync(join(root, "keys/age.key"), "utf8");
  expect(await json(asked, 1, other)).toMatchObject({ result: "failed" });

  expect(await json(["keys", "recovery-kit", "--output", "again.html"], 2)).toMatchObject({ error: "usage" });
  await json(["keys", "recovery-kit", "--output", "again.html", "--yes"]);
  expect(readFileSync(at("again.html"), "utf8")).toMatch(/AGE-SECRET-KEY-1[A-Z0-9]{58}/);
  expect(readFileSync(join(root, "config.yaml"), "utf8")).not.toContain(recipient);
});

it("splits the key among people; the page's own commands put it together, and so does the test", async () => {
  mkdirSync(at("safe"));
  const made = await json<{ files: string[] }>([
    "keys",
    "recovery-kit",
    "--output",
    "safe/share.txt",
    "--shares",
    "4",
    "--threshold",
    "3",
  ]);
  expect(made.files).toHaveLength(4);
  const pages = made.files.map((file) => readFileSync(file, "utf8"));
  expect(pages.join()).not.toContain("AGE-SECRET-KEY-1Q");
  await json(["backup"]);

  const [, recipe = ""] = /^( {4}for file in[\s\S]*?gfcombine.*)$/m.exec(pages[0] ?? "") ?? [];
  rmSync(at("safe/share-2.txt"));
  execFileSync("sh", ["-euc", recipe], { cwd: at("safe") });
  expect(filesIn(execFileSync("age", ["-d", "-i", at("safe/age.key"), storedBackup()]))).toContain("one.txt");

  const share = (...numbers: number[]): string => numbers.map((n) => at(`safe/share-${n}.txt`)).join(",");
  const asked = ["keys", "recovery-kit", "--test", "--share"];
  expect(await json([...asked, share(1, 3, 4)])).toMatchObject({ result: "passed" });
  expect(await json([...asked, share(1, 3)], 2)).toMatchObject({ error: "usage" });
  const page = readFileSync(at("safe/share-3.txt"), "utf8");
  writeFileSync(at("safe/share-3.txt"), page.replace(/~[0-9a-f]{4}/, "~0000"));
  expect((await cli([...asked, share(1, 3, 4)])).stderr).toContain("line 1 of share 3");
});

it("the agent backs up with only a recipient, and tests once the identity is there", async () => {
  await json(["keys", "export", "--secret", "--output", "moved.key"]);
  expect(statSync(at("moved.key")).mode & 0o777).toBe(0o600);
  rmSync(join(root, "keys/age.key"));
  const file = join(root, "config.yaml");
  const config = readFileSync(file, "utf8");
  writeFileSync(file, config.replace(/identity_files: .*/, "identity_files: []"));
  await json(["backup"]);
  expect(await json(["restore-test"], 2)).toMatchObject({ error: "identity_missing" });
  writeFileSync(file, config.replace(/identity_files: .*/, `identity_files: [${at("moved.key")}]`));
  expect(await json(["restore-test"])).toMatchObject({ result: "passed" });
  const written = at("public.txt");
  expect((await cli(["keys", "export", "--output", written])).code).toBe(0);
  expect(readFileSync(written, "utf8")).toBe((await cli(["keys", "export"])).stdout);
  expect((await cli(["keys", "export", "--output", written])).stderr).toContain(`${written} already exists`);
  const shown = await json<Record<string, unknown>>(["keys", "export"]);
  expect(shown).toMatchObject({ recipients: [expect.stringMatching(/^age1/)], log_verifier_key: null });
});

it("the agent rotates the encryption key: old backups stay readable, the signing key vouches for the new one", async () => {
  const { backup_id: before } = await json<{ backup_id: string }>(["backup"]);
  expect((await cli(["keys", "rotate", "encryption"])).code).toBe(2);
  const wrong = await json(["keys", "rotate", "signing", "--yes", "--recipient", "age1x"], 2);
  expect(wrong).toMatchObject({ error: "usage", message: expect.stringContaining("--recipient") });
  const { recipients, statement } = await json<{ recipients: string[]; statement: string }>([
    "keys",
    "rotate",
    "encryption",
    "--yes",
  ]);
  const { backup_id: after } = await json<{ backup_id: string }>(["backup"]);
  for (const id of [before, after])
    expect(await json(["restore-test", "--backup", id])).toMatchObject({ result: "passed" });
  const header = readFileSync(storedBackup(), "latin1").split("\n---")[0] ?? "";
  expect(header.match(/^-> X25519/gm)).toHaveLength(1);
  expect(recipients).toHaveLength(1);
  const { by_old: envelope } = JSON.parse(readFileSync(statement, "utf8")) as { by_old: EnvelopeJson };
  await verifyEnvelope(envelopeFromJson(envelope), publicKeyAt("keys/agent.pub"));
});

it("while keys rotate waits for an answer, nothing else works in the root", async () => {
  const layout = layoutOf(root);
  const terminal = startOnTerminal(["keys", "rotate", "encryption"], { ATTESTORE_HOME: root });
  try {
    await expect.poll(() => lockHolder(layout, "work")?.what).toBe("keys rotate");
    expect(await json(["backup", "--no-wait"], 2)).toMatchObject({
      error: "locked",
      message: expect.stringContaining("keys rotate"),
    });
    expect(isLocked(layout, "work")).toBe(true);
  } finally {
    await terminal.hangUp();
  }
  await expect.poll(() => isLocked(layout, "work")).toBe(false);
});

it("the agent rotates the signing key: both keys vouch for it, receipts before and after verify, and the chain continues", async () => {
  await json(["backup"]);
  const old = publicKeyAt("keys/agent.pub");
  const { retired, statement } = await json<{ retired: string; statement: string }>([
    "keys",
    "rotate",
    "signing",
    "--yes",
  ]);
  const now = publicKeyAt("keys/agent.pub");
  expect(now).not.toEqual(old);
  expect(parsePublicKeyFile(readFileSync(retired, "utf8"))).toEqual(old);
  const { by_old, by_new } = JSON.parse(readFileSync(statement, "utf8")) as Record<string, EnvelopeJson>;
  if (by_old === undefined || by_new === undefined) throw new Error("the rotation is not signed by both");
  await verifyEnvelope(envelopeFromJson(by_old), old);
  await verifyEnvelope(envelopeFromJson(by_new), now);
  expect(by_old.payload).toBe(by_new.payload);
  const said = JSON.parse(Buffer.from(by_old.payload, "base64").toString()) as {
    predicate: { after: string };
  };
  expect(said.predicate.after).toBe(Buffer.from(publicKeyToSpki(now)).toString("base64"));

  await json(["backup"]);
  expect(await json(["receipts", "verify"])).toEqual({ verified: 2, wrong: [] });
  const { receipts } = await json<{ receipts: { number: number; source: string; file: string }[] }>([
    "receipts",
  ]);
  expect(receipts.map(({ number, source }) => [number, source])).toEqual([
    [2, "papers"],
    [1, "papers"],
  ]);
  expect(await json(["receipts", "show", "1"])).toMatchObject({ receipts: [{ number: 1, log: null }] });

  // One taken away, and one changed.
  const [newest, oldest] = receipts;
  const text = readFileSync(oldest?.file ?? "", "utf8");
  writeFileSync(oldest?.file ?? "", text.replace(/"payload":"(.{40})./, '"payload":"$1A'));
  const found = await json<{ wrong: { number: number }[] }>(["receipts", "verify"], 1);
  expect(found.wrong.map(({ number }) => number)).toContain(1);
  writeFileSync(oldest?.file ?? "", text);
  rmSync(join(root, "keys/retired"), { recursive: true });
  expect((await json<{ wrong: { number: number }[] }>(["receipts", "verify"], 1)).wrong).toMatchObject([
    { number: 1 },
  ]);
  expect(newest?.number).toBe(2);
});

it("receipts verify names a receipt that was taken away between two others, but not one before all", async () => {
  for (const _run of [1, 2, 3]) await json(["backup"]);
  const { receipts } = await json<{ receipts: { file: string }[] }>(["receipts"]);
  const [, second, first] = receipts.map(({ file }) => file);
  renameSync(first ?? "", at("first.json"));
  expect(await json(["receipts", "verify"])).toEqual({ verified: 2, wrong: [] });
  renameSync(at("first.json"), first ?? "");
  rmSync(second ?? "");
  expect(await json(["receipts", "verify"], 1)).toMatchObject({
    verified: 2,
    wrong: [
      {
        number: 3,
        faults: ["the receipt or event before it is missing: the newest one before it here is number 1"],
      },
    ],
  });
});

it("a backup that waited for its turn is encrypted to the keys that config.yaml names by then", async () => {
  const lock = tryLock(layoutOf(root), "work", "test");
  const waits = startCli(["backup"], { env: { ATTESTORE_HOME: root }, cwd: base });
  await waits.said("Waiting for");
  const recipient = await identityToRecipient(await generateX25519Identity());
  const config = join(root, "config.yaml");
  const text = readFileSync(config, "utf8");
  writeFileSync(config, text.replace(/recipients: \[ ?/, `recipients: [${recipient}, `));
  lock?.release();
  expect((await waits.finished).code).toBe(0);
  const header = readFileSync(storedBackup()).subarray(0, 1_000).toString("latin1");
  expect(header.match(/^-> X25519 /gm)).toHaveLength(2);
});

it("keys commands create nothing in a root that was never set up, and create missing files in one that was", async () => {
  const config = join(root, "config.yaml");
  const text = readFileSync(config, "utf8");
  rmSync(layoutOf(root).locks, { recursive: true });
  await json(["keys", "recovery-kit", "--output", "kit.txt"]);
  rmSync(root, { recursive: true });
  mkdirSync(root);
  writeFileSync(config, text.slice(text.indexOf("\nsources:")));
  for (const [command, error] of [
    [["recovery-kit"], "config_invalid"],
    [["rotate", "encryption"], "not_attached"],
    [["rotate", "signing"], "not_attached"],
  ] as const)
    expect(await json(["keys", ...command], 2)).toMatchObject({
      error,
      message: expect.stringContaining("attestore init"),
    });
  expect(readdirSync(root)).toEqual(["config.yaml"]);
});
