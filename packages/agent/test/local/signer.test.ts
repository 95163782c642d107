import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import {
  cosignatureMessage,
  formatEventStatement,
  formatStatement,
  pae,
  parsePublicKeyFile,
  PAYLOAD_TYPE,
  publicKeyFromBytes,
  toBase64,
  utf8,
  verifySignature,
} from "@attestore/proof";
import { newId } from "@attestore/contract";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { rotationStatement } from "../../src/signer/rotation-statement.ts";
import {
  undoRotation,
  forgetOldKey,
  prepareSigningKey,
  takeIntoUse,
} from "../../src/key-rotation/rotate-signing-key.ts";
import { verifyKeyRotation, type KeyRotationJson } from "@attestore/proof";
import { recipientOf } from "../../src/crypto/identity.ts";
import { findHeaderEnd } from "../../src/crypto/age-header.ts";
import { seal } from "../../src/crypto/seal.ts";
import { unseal } from "../../src/crypto/unseal.ts";
import { ensureAgeIdentity, parseIdentities, readIdentities } from "../../src/crypto/age-identity.ts";
import { layoutOf, makeLayout } from "../../src/state/layout.ts";
import { ensureSigningKey, readSigningKey, openSigningKeys } from "../../src/signer/open-signing-keys.ts";
import { encodeMessage, MAX_MESSAGE, OPENED, OPERATION } from "../../src/signer-client/protocol.ts";
import { fileKeyFrom, heldRecipients, makeHeldIdentity } from "../../src/signer-client/remote-identities.ts";
import { until } from "../../../../tests/e2e/harness/wait.ts";
import { collect } from "../pieces.ts";
import { ALICE, as, MALLORY, moduleOf, programAs } from "./second-user.ts";

/**
 * The signing process as its unit runs it: another user's, behind a socket that the agent's user
 * alone may connect to.
 */

const SIGNER = { uid: 2_003, gid: 2_003 };
const MAIN = join(import.meta.dirname, "../../src/single-executable.ts");
/** What systemd does for it: the socket is its descriptor 3, and belongs to the agent's user. */
const ACTIVATE = `
import os, socket, sys
path, uid, gid, owner = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
listener = socket.socket(socket.AF_UNIX)
listener.bind(path)
os.chown(path, owner, owner)
os.chmod(path, 0o600)
listener.listen(64)
os.dup2(listener.fileno(), 3)
os.set_inheritable(3, True)
os.setgroups([])
os.setgid(gid)
os.setuid(uid)
os.environ["LISTEN_FDS"] = "1"
os.execv(sys.argv[5], sys.argv[5:])
`;

let directory: string;
let socket: string;
let held: string;
let signer: ChildProcess;
const layout = () => layoutOf(join(directory, "root"));

beforeAll(async () => {
  directory = mkdtempSync("/tmp/attestore-signer-");
  chmodSync(directory, 0o755);
  socket = join(directory, "signer.sock");
  held = join(directory, "held");
  mkdirSync(held, { mode: 0o700 });
  chownSync(held, SIGNER.uid, SIGNER.gid);
  signer = spawn(
    "python3",
    [
      "-c",
      ACTIVATE,
      socket,
      ...[SIGNER.uid, SIGNER.gid, ALICE.uid].map(String),
      process.execPath,
      "--no-warnings",
      MAIN,
      "internal-signer",
    ],
    {
      cwd: "/",
      env: { PATH: process.env["PATH"], STATE_DIRECTORY: held },
      stdio: ["ignore", "inherit", "inherit"],
    },
  );
  await until("the signing process listens", () => readdirSync(directory).includes("signer.sock"), 30);
  await makeLayout(layout());
  writeFileSync(layout().signer, `${socket}\n`);
  as(SIGNER, "true");
});
afterAll(() => {
  signer.kill("SIGKILL");
  rmSync(directory, { recursive: true, force: true });
});

const [orgId, agentId] = [newId("org"), newId("agent")];
const event = (): Uint8Array =>
  formatEventStatement({
    kind: "backup_failed",
    occurred_at: "2026-11-22T10:00:00.000Z",
    detail: { error: "dump_failed" },
    org_id: orgId,
    agent_id: agentId,
    agent_version: "1.0.0",
    previous_receipt_sha256: null,
  });
const receipt = (): Uint8Array => {
  const backupId = newId("backup");
  return formatStatement({
    _type: "https://in-toto.io/Statement/v1",
    subject: [{ name: backupId, digest: { sha256: "0".repeat(64) } }],
    predicateType: "https://attestore.dev/backup/v1",
    predicate: {
      org_id: orgId,
      agent_id: agentId,
      source_id: newId("source"),
      backup_id: backupId,
      started_at: "2026-11-22T10:00:00.000Z",
      finished_at: "2026-11-22T10:00:01.000Z",
      agent_version: "1.0.0",
      previous_receipt_sha256: null,
      size_bytes: 1,
      cipher: { name: "age-v1", recipients: ["age1x"] },
      source_metadata: {
        engine: "files",
        engine_version: "1",
        dump_format: "tar",
        schema_hash: "0".repeat(64),
      },
    },
  });
};
const signed = (payload: Uint8Array): Uint8Array => pae(PAYLOAD_TYPE, payload);
const CHECKPOINT = `log.example/org\n3\n${toBase64(new Uint8Array(32))}\n`;
const now_s = (): number => Math.floor(Date.now() / 1000);

describe("a signing process of another user", () => {
  it("has the key where the agent's user cannot read it, and gives its public half", async () => {
    const key = await ensureSigningKey(layout());
    expect(parsePublicKeyFile(readFileSync(layout().publicKey, "utf8"))).toEqual(key.publicKey);
    expect(readdirSync(layout().keys).toSorted()).toEqual(["agent.pub", "agent.signer"]);
    expect(readFileSync(join(held, "agent.key"), "utf8")).toContain("PRIVATE KEY");
    for (const attack of [
      `cat ${held}/agent.key`,
      `ls ${held}`,
      `cat /proc/${signer.pid}/mem`,
      `ls -l /proc/${signer.pid}/fd`,
    ])
      expect(() => as(ALICE, attack), attack).toThrow(/Permission denied/);
    // The agent's user is served all the same.
    const asked = programAs(
      ALICE,
      `import { RemoteKeys } from ${moduleOf("signer/remote-keys.ts")};
       console.log((await new RemoteKeys(${JSON.stringify(socket)}).current()).fingerprint);`,
    );
    expect(asked).toEqual({ status: 0, output: `${key.fingerprint}\n` });
  });

  it("serves no other user", () => {
    const { status, output } = programAs(
      MALLORY,
      `import { RemoteKeys } from ${moduleOf("signer/remote-keys.ts")};
       await new RemoteKeys(${JSON.stringify(socket)}).current().catch((error) => { console.log(error.message); process.exit(7); });`,
    );
    expect([status, output]).toEqual([7, expect.stringContaining("does not answer (EACCES)") as string]);
  });

  it("signs everything that an agent signs", async () => {
    const key = await readSigningKey(layout());
    for (const message of [signed(receipt()), signed(event()), cosignatureMessage(now_s(), CHECKPOINT)])
      expect(await verifySignature(key.publicKey, message, await key.sign(message))).toBe(true);
    const change = { key: "encryption", before: ["age1a"], after: ["age1b", "ssh-ed25519 AAAA"] } as const;
    await key.sign(signed(rotationStatement({ agentId, orgId, at: "2026-11-22T10:00:00.000Z", change })));
  });

  it("signs nothing else", async () => {
    const key = await readSigningKey(layout());
    const thiefs = publicKeyFromBytes(
      Buffer.from("d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a", "hex"),
    );
    const toThief = { key: "signing", before: key.publicKey, after: thiefs } as const;
    const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString();
    const at = "2026-11-22T10:00:00.000Z";
    const attacks: Record<string, Uint8Array> = {
      "any bytes": utf8("pay 100"),
      nothing: new Uint8Array(),
      "an SSH challenge": utf8(`SSHSIG\0\0\0\0file`),
      "an in-toto statement about something else": signed(
        utf8(text(receipt()).replace("attestore.dev/backup/v1", "slsa.dev/provenance/v1")),
      ),
      "a payload of another type": pae("application/vnd.oci", receipt()),
      "a receipt with fields that none has": signed(
        utf8(text(receipt()).replace(`"size_bytes"`, `"more":1,"size_bytes"`)),
      ),
      "a receipt written otherwise": signed(utf8(` ${text(receipt())}`)),
      "a receipt that passed without a check": signed(
        utf8(text(receipt()).replace("backup/v1", "restore-test/v1")),
      ),
      "an event with another subject": signed(utf8(text(event()).replace("dump_failed", "none"))),
      "a length that is another": utf8(text(signed(event())).replace(/(json \d+)/, "$10")),
      "a rotation to a thief's key": signed(rotationStatement({ agentId, orgId, at, change: toThief })),
      "a cosignature for yesterday": cosignatureMessage(now_s() - 86_400, CHECKPOINT),
      "a cosignature for tomorrow": cosignatureMessage(now_s() + 86_400, CHECKPOINT),
      "a cosignature of no checkpoint": cosignatureMessage(now_s(), "anything\n"),
      "a head, as a log signs it": utf8(CHECKPOINT),
    };
    for (const [what, message] of Object.entries(attacks))
      await expect(Promise.resolve(key.sign(message)), what).rejects.toMatchObject({ code: "signer" });
  });

  it("disconnects a client that sends no request, and answers the next one", async () => {
    const before = (await readSigningKey(layout())).fingerprint;
    const ask = (bytes: Uint8Array): Promise<string> => {
      const client = connect(socket);
      client.on("error", () => undefined);
      client.end(bytes);
      return text(client).catch(() => "");
    };
    const tooLong = Buffer.alloc(5 + MAX_MESSAGE + 1, 1);
    expect(await ask(tooLong)).toBe("");
    const announced = encodeMessage(OPERATION.sign, Buffer.alloc(3));
    announced.writeUInt32BE(0xffff_ffff, 1);
    expect(await ask(announced)).toBe("");
    expect(
      await ask(Buffer.concat([encodeMessage(OPERATION.current, Buffer.alloc(0)), Buffer.from("x")])),
    ).toBe("");
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 0, max: 255 }),
        fc.uint8Array({ minLength: 1, maxLength: 600 }),
        async (kind, payload) => {
          // What makes or gives keys takes no payload, and forgetting is for fingerprints.
          const answer = Buffer.from(await ask(encodeMessage(kind, payload)), "utf8");
          if (kind === OPERATION.openHeader) expect([...answer]).toEqual([0, 0, 0, 0, 1, OPENED.damaged]);
          else expect(answer[0]).toBe(1);
        },
      ),
      { numRuns: 300 },
    );
    expect((await readSigningKey(layout())).fingerprint).toBe(before);
  });

  it("takes a new key into use, takes it back, and forgets the old one", async () => {
    const inUse = async (): Promise<string> => (await readSigningKey(layout())).fingerprint;
    const files = (): string[] => readdirSync(held, { recursive: true }).map(String).toSorted();
    const first = await prepareSigningKey(layout());
    const switched = await takeIntoUse(layout(), first, { agentId, orgId });
    expect(await inUse()).toBe(first.next.fingerprint);
    const { by_old, by_new } = JSON.parse(readFileSync(switched.statement, "utf8")) as KeyRotationJson;
    expect((await verifyKeyRotation({ by_old, by_new })).after).toEqual(first.next.publicKey);
    // The key that is not in use signs nothing any more.
    await expect(Promise.resolve(first.old.sign(signed(event())))).rejects.toMatchObject({ code: "signer" });
    await undoRotation(layout(), first, switched);
    expect(await inUse()).toBe(first.old.fingerprint);

    const second = await prepareSigningKey(layout());
    // Before it is in use it signs nothing but that it is held.
    await expect(Promise.resolve(second.next.sign(signed(event())))).rejects.toMatchObject({
      code: "signer",
    });
    await takeIntoUse(layout(), second, { agentId, orgId });
    // An answer that got lost: asked once more, nothing changes.
    await (await openSigningKeys(layout())).takeNext(second.old, second.next);
    expect(files().filter((name) => /agent|retired.*key/.test(name) && name.endsWith(".key"))).toHaveLength(
      2,
    );
    await forgetOldKey(layout(), second.old.fingerprint);
    expect(files().filter((name) => !/^age[.-]/.test(name))).toEqual(["agent.key", "retired"]);
    expect(await inUse()).toBe(second.next.fingerprint);
    expect(
      readdirSync(layout().keys, { recursive: true }).filter((name) => String(name).endsWith(".key")),
    ).toEqual([]);
  });

  it("does not forget the key in use", async () => {
    const { fingerprint } = await readSigningKey(layout());
    await expect((await openSigningKeys(layout())).forget(fingerprint)).rejects.toMatchObject({
      code: "signer",
    });
  });
});

describe("an identity that a process of another user holds", () => {
  const PLAIN = Buffer.from("what a backup holds");
  async function* one(): AsyncGenerator<Buffer> {
    yield await Promise.resolve(PLAIN);
  }
  async function* of(bytes: Buffer): AsyncGenerator<Buffer> {
    yield await Promise.resolve(bytes);
  }
  const sealedTo = (...recipients: string[]): Promise<Buffer> => collect(seal(one(), recipients));
  const opened = async (bytes: Buffer): Promise<Buffer> =>
    collect(unseal(of(bytes), await readIdentities([layout().ageIdentity])));
  const headerOf = (bytes: Buffer): Buffer => bytes.subarray(0, findHeaderEnd(bytes));
  const OTHER = "age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p";
  let recipient: string;

  beforeAll(async () => {
    recipient = await ensureAgeIdentity(layout().ageIdentity, socket);
  });

  it("is created where the agent's user cannot read it; its file in the root says who holds it", async () => {
    expect(readFileSync(join(held, "age.key"), "utf8")).toContain("AGE-SECRET-KEY-1");
    expect(readFileSync(layout().ageIdentity, "utf8")).not.toContain("AGE-SECRET-KEY-1");
    expect(() => as(ALICE, `cat ${held}/age.key`)).toThrow(/Permission denied/);
    // Asked once more, it is the same.
    expect(await ensureAgeIdentity(layout().ageIdentity, socket)).toBe(recipient);
    rmSync(layout().ageIdentity);
    expect(await ensureAgeIdentity(layout().ageIdentity, socket)).toBe(recipient);
  });

  it("opens backups for the agent's user, and for nobody else", async () => {
    const backup = join(directory, "backup.age");
    writeFileSync(backup, await sealedTo(OTHER, recipient));
    const program = `import { unseal } from ${moduleOf("crypto/unseal.ts")};
      import { createReadStream } from "node:fs";
      try {
        for await (const piece of unseal(createReadStream(${JSON.stringify(backup)}), [${JSON.stringify(`held-by-signer ${socket}`)}])) console.log(piece.toString());
      } catch (error) { console.log(error.code, error.message); }`;
    expect(programAs(ALICE, program).output).toBe(`${PLAIN.toString()}\n`);
    expect(programAs(MALLORY, program).output).toMatch(/^identity_missing .* does not answer \(EACCES\)/);
  });

  it("may be of every kind that the agent takes, and several", async () => {
    const second = await makeHeldIdentity(socket);
    expect(await heldRecipients(socket)).toEqual([recipient, second]);
    for (const args of [["ed25519"], ["rsa", "-b", "2048"]]) {
      const path = join(held, `age-${args[0]}.key`);
      execFileSync("ssh-keygen", ["-q", "-N", "", "-t", ...args, "-f", path]);
      chownSync(path, SIGNER.uid, SIGNER.gid);
    }
    const ssh = ["ed25519", "rsa"].map((type) => readFileSync(join(held, `age-${type}.key`), "utf8"));
    const sshRecipients = await Promise.all(
      ssh.map((each) => recipientOf(parseIdentities(each, "ssh")[0] ?? "")),
    );
    for (const to of [recipient, second, ...sshRecipients])
      expect(await opened(await sealedTo(to)), to).toEqual(PLAIN);
    expect((await heldRecipients(socket)).toSorted()).toEqual(
      [recipient, second, ...sshRecipients].toSorted(),
    );
  });

  it("opens the header of one whole file and nothing else", async () => {
    const header = headerOf(await sealedTo(recipient));
    const another = headerOf(await sealedTo(recipient));
    const text = header.toString("latin1");
    const key = await fileKeyFrom(socket, header);
    expect(key).toHaveLength(16);
    const mac = (bytes: Buffer): string => /--- .*\n$/.exec(bytes.toString("latin1"))?.[0] ?? "";
    const attacks: Record<string, string> = {
      "a stanza under another file's MAC": text.replace(mac(header), mac(another)),
      "a stanza beside another file's": text.replace(
        "\n-> ",
        `\n${/-> [^]*?(?=---)/.exec(another.toString("latin1"))?.[0]}-> `,
      ),
      "a header without a MAC": text.slice(0, text.indexOf("---")),
      "a header with something after it": `${text}x`,
      "a header in Windows' line ends": text.replaceAll("\n", "\r\n"),
      "no header": "anything",
      nothing: "",
    };
    for (const [what, bytes] of Object.entries(attacks))
      expect(await fileKeyFrom(socket, Buffer.from(bytes, "latin1")), what).toBe("damaged");
    expect(await fileKeyFrom(socket, headerOf(await sealedTo(OTHER)))).toBe("no identity");
    await expect(opened(await sealedTo(OTHER))).rejects.toMatchObject({ code: "identity_missing" });
    await expect(
      opened(Buffer.from(attacks["a stanza under another file's MAC"] ?? "", "latin1")),
    ).rejects.toThrow();
  });

  it("refuses a header that is too large, works off the largest, and signs after it", async () => {
    const [stanza = ""] = /-> [^]*?(?=---)/.exec(headerOf(await sealedTo(OTHER)).toString("latin1")) ?? [];
    const text = headerOf(await sealedTo(OTHER)).toString("latin1");
    const withStanzas = (count: number): Buffer =>
      Buffer.from(text.replace(/-> [^]*?(?=---)/, stanza.repeat(count)));
    expect(await fileKeyFrom(socket, withStanzas(256))).toBe("no identity");
    await expect(fileKeyFrom(socket, withStanzas(257))).rejects.toMatchObject({ code: "signer" });
    await expect(fileKeyFrom(socket, Buffer.alloc(65_537, text))).rejects.toMatchObject({ code: "signer" });
    const key = await readSigningKey(layout());
    expect(await key.sign(signed(event()))).toHaveLength(64);
  });
});
