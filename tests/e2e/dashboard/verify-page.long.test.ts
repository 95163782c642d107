import { mkdtempSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { formatSshLine, parsePublicKeyFile } from "@attestore/proof";
import { describe, expect, test } from "vitest";
import { exchange } from "../harness/https.ts";
import { expectAccessible, screenshotsOf } from "./open-dashboard.ts";
import {
  agentKey,
  base,
  bundleOf,
  changed,
  dashboard,
  type Listed,
  logKey,
  org,
  passed,
  shell,
  useReceiptsDashboard,
  wire,
  withAuthority,
} from "./receipts-dashboard.ts";
import { neverReuse } from "./reused-pages.ts";
import { checksThat, heading, line, verdict, verdictIs } from "./verdicts.ts";

useReceiptsDashboard();

const file = (name: string, content: string | Buffer) => ({
  name,
  mimeType: "application/octet-stream",
  buffer: Buffer.from(content),
});

describe("the /verify page", () => {
  test("verifies files without a session and offline, and sends nothing", async () => {
    const { id } = await passed();
    const bundle = await bundleOf(id);
    const page = await dashboard.open(null, "/verify");
    await heading(page, "Verify a receipt").waitFor();
    neverReuse(page);
    await page.context().setOffline(true);
    const sent: string[] = [];
    page.on("request", (request) => sent.push(request.url()));
    const choose = page.getByLabel("Choose files");

    await choose.setInputFiles([file("rcpt.json", bundle)]);
    await verdictIs(page, "cannot_tell");
    await expect.poll(() => checksThat(page, "held")).toContain("leaf");
    await choose.setInputFiles([file("agent.pub", agentKey()), file("log.vkey", logKey())]);
    await verdictIs(page, "true");
    await page.getByText("Everything you asked for was checked, and held.").waitFor();
    await page.getByText("Restore test passed").waitFor();
    await expectAccessible(page);
    await screenshotsOf(page, "verify-true");

    const backup = readFileSync(await ciphertextOf(id));
    await choose.setInputFiles([file("backup.age", backup)]);
    await line(page, "ciphertext").and(page.locator('[data-result="held"]')).waitFor();
    await choose.setInputFiles([file("other.age", Buffer.concat([backup, backup]))]);
    await page.getByText("none of these receipts is about it").waitFor();
    await page.getByLabel("SHA-256 of the ciphertext").fill("ab".repeat(32));
    await verdictIs(page, "false");
    await expect.poll(() => checksThat(page, "failed")).toEqual(["ciphertext"]);
    await page.getByLabel("SHA-256 of the ciphertext").fill("ab");
    await page.getByText("Not 64 hexadecimal digits.").waitFor();
    await expect.poll(() => verdict(page).count()).toBe(0);

    await page.getByRole("button", { name: "Start over" }).click();
    const tampered = JSON.parse(bundle) as { envelope: { payload: string } };
    tampered.envelope.payload = changed(tampered.envelope.payload);
    await choose.setInputFiles([
      file("tampered.json", JSON.stringify(tampered)),
      file("agent.pub", agentKey()),
      file("log.vkey", logKey()),
    ]);
    await verdictIs(page, "false");
    await expect.poll(() => checksThat(page, "failed")).toEqual(["signature", "leaf"]);
    await expectAccessible(page);
    await screenshotsOf(page, "verify-false");

    expect(sent).toEqual([]);
    const { headers } = await exchange(dashboard.server, { method: "GET", path: "/verify" });
    expect(headers["content-security-policy"]).toContain("connect-src 'none'");
  });

  test("verifies an evidence pack offline, and does not show a pack with a failed test in green", async () => {
    const { id } = await passed();
    const { body: pack } = await exchange(dashboard.server, {
      method: "GET",
      path: `/api/orgs/${org.id}/evidence`,
      token: org.owner.token,
    });
    const page = await dashboard.open(null, "/verify");
    await heading(page, "Verify a receipt").waitFor();
    neverReuse(page);
    await page.context().setOffline(true);
    const choose = page.getByLabel("Choose files");
    await choose.setInputFiles([file("pack.zip", pack)]);
    await verdictIs(page, "cannot_tell");
    expect(await checksThat(page, "failed")).toEqual([]);
    const list = `org ${org.id}\n${formatSshLine(parsePublicKeyFile(agentKey()))}\n${wire.signer.wire} ${wire.id}\n`;
    await choose.setInputFiles([file("keys.list", list), file("log.vkey", logKey())]);
    await verdictIs(page, "true");
    await page.getByText("Authentic").waitFor();
    await page.getByText("It says that restore tests FAILED or were MISSED.").waitFor();
    await page.getByText("1 passed, 1 failed").waitFor();
    await page.getByText("list of 2 agents' keys, for evidence packs").waitFor();
    expect(await checksThat(page, "not_checked")).toEqual([]);
    await expectAccessible(page);
    await screenshotsOf(page, "verify-pack");

    await choose.setInputFiles([file("rcpt.json", await bundleOf(id))]);
    await page.getByText("Verify receipts and evidence packs one after the other").waitFor();
    await page.getByRole("button", { name: "Start over" }).click();
    const damaged = Buffer.from(pack);
    const at = damaged.indexOf("receipts/rcpt_") + 400;
    damaged.writeUInt8(damaged.readUInt8(at) ^ 1, at);
    await choose.setInputFiles([file("damaged.zip", damaged), file("pack.zip", pack)]);
    await verdictIs(page, "false");
    await page.getByText("2 packs of").waitFor();
  });

  test('gives the verdict "cannot tell" in a browser without Ed25519', async () => {
    const bundle = await bundleOf((await passed()).id);
    const page = await dashboard.open(null, "/verify");
    await page.evaluate(() => {
      SubtleCrypto.prototype.importKey = () => Promise.reject(new DOMException("", "NotSupportedError"));
    });
    const keys = [file("agent.pub", agentKey()), file("log.vkey", logKey())];
    await page.getByLabel("Choose files").setInputFiles([file("rcpt.json", bundle), ...keys]);
    await verdictIs(page, "cannot_tell");
    await page.getByText("It may be too old for Ed25519").waitFor();
  });

  test("says what kind of file it is if it is not evidence, and calls a malformed receipt false", async () => {
    const { id } = await passed();
    const bundle = JSON.parse(await bundleOf(id)) as Record<string, unknown>;
    const page = await dashboard.open(null, "/verify");
    await page
      .getByLabel("Choose files")
      .setInputFiles([
        file("empty", ""),
        file("noise.bin", Buffer.from([0xff, 0xfe, 0x00, 0x80])),
        file("huge.json", Buffer.alloc(600 * 1024, "x")),
        file("notes.txt", "milk, bread"),
        file("other.json", '{"a": 1}'),
        file("proof.tlog-proof", "c2sp.org/tlog-proof@v1\nindex 1\n\n"),
        file("sigstore.json", '{"mediaType": "application/vnd.dev.sigstore.bundle.v0.3+json"}'),
        file("private.pem", "-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2Vw\n-----END PRIVATE KEY-----\n"),
        file("malformed.json", JSON.stringify({ ...bundle, checkpoint: "" })),
      ]);
    const files = page.getByRole("list", { name: "Files" });
    for (const words of [
      /^empty: Empty: the file has no content/,
      /^noise\.bin: Not a text file/,
      /^huge\.json: Too large: 614 kB/,
      /^notes\.txt: Nothing to verify/,
      /^other\.json: Nothing to verify/,
      /^proof\.tlog-proof: A proof without its receipt/,
      /^sigstore\.json: A bundle for other tools/,
      /^private\.pem: Not a key to trust: this is a private key/,
      /^malformed\.json: malformed receipt/,
    ])
      await files.getByRole("listitem").filter({ hasText: words }).waitFor();
    await verdictIs(page, "false");
    await expect.poll(() => verdict(page).count()).toBe(1);
    await screenshotsOf(page, "verify-garbage");
  });
});

/** Fetched with the steps that the backup's page shows. */
async function ciphertextOf(id: string): Promise<string> {
  const { backup_id } = JSON.parse(
    (await wire.call("GET", `/api/receipts/${id}`, undefined, { token: org.owner.token })).body.toString(),
  ) as Listed;
  const directory = mkdtempSync(join(base, "ciphertext-"));
  const page = await dashboard.open(org.owner, `/backups/${backup_id}`);
  await page.getByRole("button", { name: "Make a download link" }).click();
  const fetch = await page.getByLabel("Fetch the ciphertext").innerText();
  shell(directory, withAuthority(fetch));
  return join(directory, "backup.age");
}
