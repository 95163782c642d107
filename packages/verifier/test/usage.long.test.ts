import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { formatSshLine } from "@attestore/proof";
import { afterAll, describe, expect, it } from "vitest";
import manifest from "../package.json" with { type: "json" };
import { ids, restoreTestStatement } from "../../proof/test/receipt-fixture.ts";
import { attestoreVerify } from "./cli.ts";
import { agent, signed, usualEvidence, vkey } from "./evidence.ts";

const { files, passed, key } = await usualEvidence();
const sshLine = formatSshLine(agent.publicKey);
const list = files.write("hosts.keys", `${sshLine} host-1\n`);
afterAll(() => {
  files.remove();
});

describe("asking for help", () => {
  it.each(["--help", "-h"])("%s prints usage, examples and exit codes", async (flag) => {
    const { code, stdout, stderr } = await attestoreVerify([flag]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    for (const word of ["Usage:", "Examples:", "Exit codes:", "--log-key", "NO_COLOR"])
      expect(stdout).toContain(word);
    for (const line of stdout.split("\n")) expect(line.length).toBeLessThanOrEqual(100);
  });

  it("--version prints the package's", async () => {
    expect((await attestoreVerify(["--version"])).stdout).toBe(`attestore-verify ${manifest.version}\n`);
  });
});

it("a receipt may come through a named pipe, which can be read only once", async () => {
  const pipe = join(files.directory, "pipe");
  expect(spawnSync("mkfifo", [pipe]).status).toBe(0);
  const finished = attestoreVerify([pipe, "--key", key, "--log-key", vkey]);
  await writeFile(pipe, readFileSync(passed));
  expect(await finished).toMatchObject({ code: 0, stdout: expect.stringMatching(/^TRUE {2}/) });
});

describe("an unusable call exits with 2, with a message on standard error and no verdict", () => {
  const directory = join(files.directory, "directory");
  mkdirSync(directory);
  const secret =
    "-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEIFRoaXNJc0FTZWNyZXQ=\n-----END PRIVATE KEY-----\n";
  const cases: [string, string[], string][] = [
    ["no receipt", [], "no receipt given"],
    ["an unknown option", [passed, "--trust-me"], "--trust-me"],
    ["an option without its value", [passed, "--key"], "--key"],
    ["two lists of keys", [passed, "--keys", key, "--keys", key], "--keys was given 2 times"],
    ["an owner and no list", [passed, "--owner-key", key], "it needs --keys"],
    ["a PEM file as a list of keys", [passed, "--keys", key], "agent.pub, line 1: "],
    ["a list without a key", [passed, "--keys", files.write("none.keys", "# none\n\n")], "contains no key"],
    [
      "a list with a date that is none",
      [passed, "--keys", files.write("date.keys", `${sshLine} since=2026-02-30\n`)],
      "date.keys, line 1: since=",
    ],
    [
      "a list of two organisations",
      [passed, "--keys", files.write("two.keys", `org ${ids.org}\norg ${ids.org}\n${sshLine}\n`)],
      "two.keys, line 2: ",
    ],
    ["a list without the owner's signature", [passed, "--keys", list, "--owner-key", key], "hosts.keys.sig"],
    ["standard input twice", ["-", "--key", "-"], "only once"],
    ["an empty key", [passed, "--key", ""], "--key is empty"],
    ["a key that is not there", [passed, "--key", join(files.directory, "none")], "no such file"],
    ["a rotation and no key to trust", [passed, "--rotation", key], "it needs --key"],
    ["a rotation that is none", [passed, "--key", key, "--rotation", passed], "rotation"],
    ["a directory as a key", [passed, "--key", directory], "it is a directory"],
    ["noise as a key", [passed, "--key", files.write("noise.pub", "noise")], "not standard base64"],
    [
      "two keys in one file",
      [passed, "--key", files.write("two.pub", `${sshLine} host-1\n${sshLine} host-2\n`)],
      "one line",
    ],
    ["a private key", [passed, "--key", files.write("private.pem", secret)], "this is a private key"],
    [
      "a log key that is none",
      [passed, "--key", key, "--log-key", vkey.replace(/\+[0-9a-f]{8}/, "+00000000")],
      "hash",
    ],
    [
      "a log's key as an agent's",
      [passed, "--key", files.write("log.vkey", `${vkey}\n`)],
      "log.vkey: this is a log's key: give it with --log-key",
    ],
    ["an agent's key as the log's", [passed, "--log-key", key], "give it with --key"],
    [
      "a private key as the log's",
      [passed, "--log-key", join(files.directory, "private.pem")],
      "private key",
    ],
    [
      "an age recipient as an agent's key",
      [passed, "--key", files.write("age.pub", `age1${"q".repeat(58)}`)],
      "this is an age recipient",
    ],
    [
      "an age identity as the log's key",
      [passed, "--log-key", files.write("age.key", `AGE-SECRET-KEY-1MC4CAQ${"Q".repeat(52)}`)],
      "this is a private key",
    ],
    [
      "a token as an agent's key",
      [passed, "--key", files.write("token", `ats_${"a".repeat(43)}`)],
      "ATTESTORE_TOKEN",
    ],
    ["a log key file that is not there", [passed, "--key", key, "--log-key", "nowhere"], "no such file"],
    ["a ciphertext that is not there", [passed, "--key", key, "--ciphertext", "nowhere"], "no such file"],
    ["a log's key as a witness's", [passed, "--witness-key", vkey], "a log's key"],
    ["more witnesses than keys", [passed, "--witnesses", "1"], "but only 0 were given"],
    ["a number of witnesses that is none", [passed, "--witnesses", "some"], "whole number"],
    ["no witness at all as enough", [passed, "--witnesses", "0"], "whole number from 1"],
    ["a service without TLS", [passed, "--prove", "http://localhost"], "https://"],
    ["a service and no token", [passed, "--prove", "https://localhost"], "ATTESTORE_TOKEN"],
    ["to be quiet, and JSON", [passed, "--quiet", "--json"], "leave out --quiet"],
    ["to be quiet and verbose", [passed, "--quiet", "--verbose"], "not both"],
    ["a CA and no service", [passed, "--ca", key], "--ca is only used with --prove"],
  ];
  it.each(cases)("%s", async (_what, args, message) => {
    const { code, stdout, stderr } = await attestoreVerify(args);
    expect(code).toBe(2);
    expect(stdout).toBe("");
    expect(stderr).toMatch(/^attestore-verify: .*\n$/);
    expect(stderr).toContain(message);
    expect(stderr).not.toContain("MC4CAQ");
  });

  it.each([
    ["nothing", ""],
    ["half a receipt", `{"envelope":`],
    ["another JSON", `{"hello":1}`],
    ["a binary", "\u0000\u0001"],
    ["far too much", " ".repeat(600_000)],
  ])("a receipt file that holds %s", async (_what, text) => {
    const { code, stdout } = await attestoreVerify([files.write("odd.json", text), "--key", key]);
    expect(code).toBe(2);
    expect(stdout).toMatch(/^CANNOT TELL/);
  });
});

describe("--quiet and --verbose", () => {
  const args = ["--key", key, "--log-key", vkey];
  const failedTest = async (): Promise<string> => {
    const statement = restoreTestStatement();
    statement.predicate.result = "failed";
    statement.predicate.reason = "the check has-orders did not hold";
    return files.writeJson("quiet-failed.json", (await signed(statement)).bundle);
  };

  it("--quiet prints nothing for true receipts, and everything as soon as one is not", async () => {
    expect(await attestoreVerify([passed, ...args, "--quiet"])).toEqual({ code: 0, stdout: "", stderr: "" });
    const unknown = await attestoreVerify([passed, "--quiet"]);
    expect(unknown.code).toBe(2);
    expect(unknown.stdout).toMatch(/^CANNOT TELL/);
  });

  it("--quiet still prints a true receipt of a failed restore test", async () => {
    const { code, stdout } = await attestoreVerify([await failedTest(), ...args, "--quiet"]);
    expect(code).toBe(0);
    expect(stdout).toContain("It says that the restore test FAILED");
  });

  it("--verbose names each file that was read with its SHA-256, on standard error", async () => {
    const { code, stdout, stderr } = await attestoreVerify([passed, ...args, "--verbose"]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^TRUE/);
    for (const file of [passed, key]) expect(stderr).toContain(`read ${file}: `);
    const digest = createHash("sha256").update(readFileSync(passed)).digest("hex");
    expect(stderr).toContain(`SHA-256 ${digest}`);
  });
});

describe("colour", () => {
  /** util-linux's script gives the program a terminal. */
  const onTerminal = (env: Record<string, string>, ...receipts: string[]): string => {
    const main = fileURLToPath(new URL("../src/main.ts", import.meta.url));
    const command = [process.execPath, main, ...receipts, "--key", key, "--log-key", vkey]
      .map((word) => `'${word}'`)
      .join(" ");
    const { error, stdout } = spawnSync("script", ["-qec", command, "/dev/null"], {
      encoding: "utf8",
      env: { PATH: process.env["PATH"] ?? "", TERM: "xterm-256color", ...env },
    });
    if (error) throw error;
    return stdout;
  };

  it("is used on a terminal, and not under NO_COLOR", () => {
    expect(onTerminal({}, passed)).toContain("\u001b[32mTRUE");
    const plain = onTerminal({ NO_COLOR: "1" }, passed);
    expect(plain).toContain("TRUE");
    expect(plain).not.toContain("\u001b");
  });

  it("of a true receipt is not green if the receipt says that the restore test failed", async () => {
    const statement = restoreTestStatement();
    statement.predicate.result = "failed";
    statement.predicate.reason = "the check has-orders did not hold";
    const failed = files.writeJson("failed.json", (await signed(statement)).bundle);
    const shown = onTerminal({}, passed, failed);
    expect(shown).toMatch(/\[32mTRUE\S* {2}\S*passed\.json/);
    expect(shown).toMatch(/\[1mTRUE\S* {2}\S*failed\.json/);
    expect(shown).toMatch(/\[1mTRUE\S* {2}2 receipts: 2 true/);
  });
});

it("exits quietly if its report's reader goes away", () => {
  const main = fileURLToPath(new URL("../src/main.ts", import.meta.url));
  const many = Array.from({ length: 200 }, () => passed);
  const shell = `"$0" "$@" | head -n 1; echo "\${PIPESTATUS[0]}"`;
  const { stdout, stderr } = spawnSync(
    "bash",
    ["-c", shell, process.execPath, main, ...many, "--key", key, "--log-key", vkey],
    { encoding: "utf8" },
  );
  expect(stderr).toBe("");
  expect(stdout).toMatch(/^TRUE .*\n0\n$/);
});

describe("the installed command", () => {
  const bin = fileURLToPath(new URL(`../${manifest.bin["attestore-verify"]}`, import.meta.url));

  it("is the same program", () => {
    const { status, stdout } = spawnSync(process.execPath, [bin, "--version"], { encoding: "utf8" });
    expect({ status, stdout }).toEqual({ status: 0, stdout: `attestore-verify ${manifest.version}\n` });
  });

  it("exits 2, not 1, under a Node that cannot run it", () => {
    const { status, stderr } = spawnSync(process.execPath, ["--no-experimental-strip-types", bin, passed], {
      encoding: "utf8",
    });
    expect(status).toBe(2);
    expect(stderr).toMatch(/^attestore-verify cannot start: it needs Node 24/);
  });
});
