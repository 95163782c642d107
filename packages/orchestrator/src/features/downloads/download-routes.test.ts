import { createHash, X509Certificate } from "node:crypto";
import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Fastify, { type FastifyInstance } from "fastify";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { generateKeyPem, heldAuthorityKey, selfSign } from "../../platform/tls/local-ca.ts";
import { commandForHosts } from "../auth-keys/command-for-hosts.ts";
import { installCommand } from "../auth-keys/install-command.ts";
import { operatorsKey } from "./operators-key.ts";
import { downloadRoutes } from "./download-routes.ts";

let directory: string;
let app: FastifyInstance;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "downloads-"));
  app = Fastify();
});
afterEach(async () => {
  await app.close();
  await rm(directory, { recursive: true });
});

describe("downloads", () => {
  test("are the directory's files, whole, as they are right now", async () => {
    app.register(downloadRoutes({ directory, caPem: null }));
    const bytes = Buffer.alloc(3_000_000, "attestore");
    await writeFile(join(directory, "attestore_0.1.0~rc1+b_amd64.deb"), bytes);
    await writeFile(join(directory, "install.sh"), "");
    const answer = await app.inject("/download/attestore_0.1.0~rc1+b_amd64.deb");
    expect(answer.statusCode).toBe(200);
    expect(answer.headers["content-length"]).toBe("3000000");
    expect(answer.rawPayload.equals(bytes)).toBe(true);
    expect((await app.inject("/install.sh")).payload).toBe("");
    await writeFile(join(directory, "install.sh"), "#!/bin/sh\n");
    expect((await app.inject("/install.sh")).payload).toBe("#!/bin/sh\n");
    expect((await app.inject("/download/install.sh")).statusCode).toBe(200);
  });

  test("answer HEAD with their length, as the authority's certificate does", async () => {
    app.register(downloadRoutes({ directory, caPem: "-----BEGIN CERTIFICATE-----\n" }));
    await writeFile(join(directory, "install.sh"), "#!/bin/sh\n");
    await writeFile(join(directory, "package.deb"), Buffer.alloc(3_000_000));
    for (const url of ["/install.sh", "/download/package.deb", "/ca.pem", "/download/absent"]) {
      const [get, head] = [await app.inject(url), await app.inject({ method: "HEAD", url })];
      expect([head.statusCode, head.payload], url).toEqual([get.statusCode, ""]);
      for (const name of ["content-type", "content-length"])
        expect(head.headers[name], url).toBe(get.headers[name]);
    }
  });

  test("never lead outside the directory", async () => {
    app.register(downloadRoutes({ directory: join(directory, "dist"), caPem: null }));
    await mkdir(join(directory, "dist", "folder"), { recursive: true });
    await writeFile(join(directory, "secret"), "secret");
    await writeFile(join(directory, "dist", ".hidden"), "secret");
    for (const name of [
      "../secret",
      "..%2fsecret",
      "%2e%2e%2fsecret",
      ".hidden",
      "folder",
      "folder%2fx",
      "absent",
      "a%00b",
    ]) {
      const answer = await app.inject(`/download/${name}`);
      expect(answer.statusCode, name).toBe(404);
      expect(answer.payload, name).not.toContain(directory);
    }
  });

  test("that are not there are a 404 that says what to do, also without the directory", async () => {
    app.register(downloadRoutes({ directory: join(directory, "nowhere"), caPem: null }));
    const answer = await app.inject("/install.sh");
    expect(answer.statusCode).toBe(404);
    expect(answer.payload).toContain("npm run package");
    expect(answer.payload).toContain("ATTESTORE_DOWNLOADS");
  });

  test("may be links that their operator made", async () => {
    app.register(downloadRoutes({ directory, caPem: null }));
    await writeFile(join(directory, "one"), "1");
    await symlink("one", join(directory, "two"));
    expect((await app.inject("/download/two")).payload).toBe("1");
  });
});

describe("the authority's certificate", () => {
  test("is given out byte for byte", async () => {
    app.register(downloadRoutes({ directory, caPem: "-----BEGIN CERTIFICATE-----\n" }));
    expect((await app.inject("/ca.pem")).payload).toBe("-----BEGIN CERTIFICATE-----\n");
  });

  test("is absent if the certificate is the user's own", async () => {
    app.register(downloadRoutes({ directory, caPem: null }));
    expect((await app.inject("/ca.pem")).statusCode).toBe(404);
  });
});

describe("the install command", () => {
  const publicUrl = "https://backup.example.org:8443";

  test("pins the service's own authority before anything of the service is run", () => {
    const caPem = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
    const sha256 = createHash("sha256").update(caPem).digest("hex");
    const steps = installCommand({ publicUrl, caPem, operatorsKey: null }).split(" && ");
    expect(steps[1]).toBe(`curl -fsSk ${publicUrl}/ca.pem -o ca.pem`);
    expect(steps[2]).toBe(`echo '${sha256}  ca.pem' | sha256sum -c --quiet`);
    // The only call that trusts whoever answers.
    expect(steps.filter((step) => /curl\S* -\w*k|insecure/.test(step))).toEqual([steps[1]]);
  });

  test("trusts the public authorities if the service uses one", () => {
    expect(installCommand({ publicUrl, caPem: null, operatorsKey: null })).toBe(
      `(cd "$(mktemp -d)" && curl -fsS ${publicUrl}/install.sh -o install.sh && sh install.sh --service ${publicUrl})`,
    );
  });

  test("names the builder's key if it is not Attestore's own", async () => {
    const key = `RW${"A".repeat(54)}`;
    expect(await operatorsKey(join(directory, "nowhere"))).toBeNull();
    await writeFile(join(directory, "minisign.pub"), `untrusted comment: ours\n${key}\n`);
    const command = installCommand({ publicUrl, caPem: null, operatorsKey: await operatorsKey(directory) });
    expect(command).toContain(`sh install.sh --service ${publicUrl} --release-key ${key})`);
    await writeFile(join(directory, "minisign.pub"), "untrusted comment: ours\nRW; rm -rf /\n");
    expect(await operatorsKey(directory)).toBeNull();
  });

  test("attaches the service's own machine as long as there is nothing to install from", async () => {
    const caPem = await selfSign(heldAuthorityKey(await generateKeyPem()), new Date());
    const pinned = await commandForHosts({ publicUrl, caPem }, directory);
    expect(pinned).toBe(
      `npx attestore init --service ${publicUrl} --ca-sha256 ${new X509Certificate(caPem).fingerprint256}`,
    );
    // While they are being made.
    await writeFile(join(directory, "install.sh"), "#!/bin/sh\n");
    await writeFile(join(directory, "SHA256SUMS"), "");
    expect(await commandForHosts({ publicUrl, caPem }, directory)).toBe(pinned);
    await writeFile(join(directory, "SHA256SUMS.minisig"), "");
    expect(await commandForHosts({ publicUrl, caPem }, directory)).toContain(`${publicUrl}/install.sh`);
  });

  test("is one line of a shell for any address", () => {
    expect(installCommand({ publicUrl: "https://[::1]:8443", caPem: null, operatorsKey: null })).toContain(
      "--service 'https://[::1]:8443')",
    );
  });
});
