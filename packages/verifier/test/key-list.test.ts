import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { formatPublicKeyWire, formatSshLine } from "@attestore/proof";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ids } from "../../proof/test/receipt-fixture.ts";
import { attestoreVerify, checksOf, report } from "./cli.ts";
import { agent, otherAgent, usualEvidence, vkey } from "./evidence.ts";

const { files, passed } = await usualEvidence();
afterAll(() => {
  files.remove();
});
const [own, other] = [formatSshLine(agent.publicKey), formatSshLine(otherAgent.publicKey)];
const ask = (list: string, ...more: string[]) => report([passed, "--log-key", vkey, "--keys", list, ...more]);

describe("a list of keys", () => {
  it.each([
    ["an OpenSSH line", `# hosts\n\n${other} host-2\r\n${own} host-1 since=2026-11-01\n`],
    ["the wire form", `${formatPublicKeyWire(agent.publicKey)} host-1`],
    ["a key for its agent", `org ${ids.org}\n${own} ${ids.agent}\n`],
  ])("with %s: the one that the receipt names counts", async (_what, text) => {
    const list = files.write("hosts.keys", text);
    const answer = await ask(list);
    expect(answer.verdict).toBe("true");
    expect(answer.receipts[0]).toMatchObject({
      basis: {
        agent_keys: [
          { from: "list", where: expect.stringContaining(`${list}, line `) as string, receipts: 1 },
        ],
        log_key: { verifier_key: vkey, from: "given" },
        clock: { entries: "service", witnessed_by: null },
        witnesses: [],
      },
    });
  });

  it("with another agent's key, another agent or another organisation makes nothing true", async () => {
    expect((await ask(files.write("other.keys", other))).verdict).toBe("false");
    const swapped = await ask(files.write("swapped.keys", `${own} ${ids.agent.slice(0, -1)}d`));
    expect([swapped.verdict, checksOf(swapped, "failed")]).toEqual(["false", ["agent"]]);
    const elsewhere = await ask(files.write("elsewhere.keys", `org ${ids.otherOrg}\n${own}`));
    expect([elsewhere.verdict, checksOf(elsewhere, "not_checked")]).toEqual([
      "cannot_tell",
      ["ciphertext", "org"],
    ]);
  });
});

describe("a list that the organisation's owner signed with OpenSSH", () => {
  const owner = join(files.directory, "owner");
  const text = `org ${ids.org}\n${own}\n`;
  const keygen = (...args: string[]): void => {
    execFileSync("ssh-keygen", args, { stdio: ["ignore", "ignore", "pipe"] });
  };
  const signList = (
    name: string,
    content = text,
    namespace = "attestore-keys",
    options: string[] = [],
  ): string => {
    const list = files.write(name, content);
    keygen("-Y", "sign", "-n", namespace, ...options, "-f", owner, list);
    return list;
  };
  beforeAll(() => {
    keygen("-q", "-t", "ed25519", "-N", "", "-f", owner);
    keygen("-q", "-t", "ed25519", "-N", "", "-f", `${owner}-other`);
  });

  it.each([["sha512"], ["sha256"]])("counts, with %s", async (algorithm) => {
    const list = signList(`${algorithm}.keys`, text, "attestore-keys", ["-O", `hashalg=${algorithm}`]);
    const answer = await ask(list, "--owner-key", `${owner}.pub`);
    expect(answer.verdict).toBe("true");
    expect(answer.receipts[0]).toMatchObject({ basis: { agent_keys: [{ from: "signed_list" }] } });
  });

  it.each<[string, () => string, string, string]>([
    [
      "changed since",
      () => {
        const list = signList("changed.keys");
        files.write("changed.keys", `${text}${other}\n`);
        return list;
      },
      "owner.pub",
      "the signature is not valid",
    ],
    [
      "by another key",
      () => signList("stranger.keys"),
      "owner-other.pub",
      "with another key than the owner key",
    ],
    ["for another purpose", () => signList("purpose.keys", text, "git"), "owner.pub", 'made for "git"'],
    [
      "of no organisation",
      () => signList("nobody.keys", own),
      "owner.pub",
      "a signed list must name its organisation",
    ],
    [
      "cut short",
      () => {
        const list = signList("cut.keys");
        const lines = readFileSync(`${list}.sig`, "utf8").split("\n");
        files.write(
          "cut.keys.sig",
          [lines[0], (lines[1] ?? "").slice(0, 64), "-----END SSH SIGNATURE-----"].join("\n"),
        );
        return list;
      },
      "owner.pub",
      "cut short",
    ],
  ])("%s counts for nothing", async (_what, make, ownerKey, message) => {
    const args = ["--keys", make(), "--owner-key", join(files.directory, ownerKey)];
    const { code, stdout, stderr } = await attestoreVerify([passed, "--log-key", vkey, ...args]);
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toContain(message);
  });
});
