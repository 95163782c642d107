import { spawnSync } from "node:child_process";
import { createPrivateKey, X509Certificate } from "node:crypto";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { SETTINGS, type Setting } from "../../src/platform/config/settings.ts";
import { readSettingsFile } from "../../src/platform/config/settings-file.ts";
import { type S3Server, startS3Server } from "../../../../tests/e2e/harness/s3-server.ts";

/**
 * What cannot be run here, because its images are in a registry, is at least whole and true to the
 * service's settings; what is ours of it works.
 */

const PACKAGING = join(import.meta.dirname, "../../../../packaging/server");
const known = new Set(Object.values<Setting<unknown>>(SETTINGS).map(({ variable }) => variable));

interface Service {
  image: string;
  build?: { context: string; dockerfile: string };
  environment?: Record<string, string>;
  secrets?: string[];
  networks: string[] | Record<string, unknown>;
  volumes?: string[];
  depends_on?: string[] | Record<string, unknown>;
}

describe("the compose file", () => {
  const text = readFileSync(join(PACKAGING, "compose.yaml"), "utf8");
  const file = parse(text, { merge: true }) as {
    services: Record<string, Service>;
    networks: object;
    volumes: object;
    secrets: Record<string, { file: string }>;
  };
  const services = Object.entries(file.services);

  test.each(services)("%s names only things that exist", (_name, service) => {
    for (const secret of service.secrets ?? []) expect(file.secrets).toHaveProperty(secret);
    const networks = Array.isArray(service.networks) ? service.networks : Object.keys(service.networks);
    for (const network of networks) expect(file.networks).toHaveProperty(network);
    for (const volume of service.volumes ?? [])
      expect(file.volumes).toHaveProperty(volume.split(":")[0] ?? "");
    const after = service.depends_on ?? [];
    for (const other of Array.isArray(after) ? after : Object.keys(after))
      expect(file.services).toHaveProperty(other);
    if (service.build === undefined) expect(service.image).toMatch(/^docker\.io\/[a-z/-]+:[\w.]+$/);
    else expect(existsSync(join(PACKAGING, service.build.context, service.build.dockerfile))).toBe(true);
  });

  test("gives the service only known settings, and each secret as a file", () => {
    for (const name of ["attestore", "bucket", "certificate"]) {
      const { environment = {}, secrets = [] } = file.services[name] ?? ({} as Service);
      for (const [variable, value] of Object.entries(environment)) {
        // Node's own.
        if (!variable.startsWith("NODE_")) expect(known).toContain(variable);
        const secret = /^file:\/run\/secrets\/(.*)$/.exec(value)?.[1];
        if (secret !== undefined) expect(secrets).toContain(secret);
      }
    }
  });

  test("needs exactly the variables that env.example names", () => {
    const example = readFileSync(join(PACKAGING, "env.example"), "utf8");
    const offered = new Set([...example.matchAll(/^([A-Z0-9_]+)=/gm)].map(([, name]) => name));
    const asked = new Set([...text.matchAll(/\$\{([A-Z0-9_]+)/g)].map(([, name]) => name));
    expect(offered).toEqual(asked);
  });

  test("makes its secrets once, readable by each container and nobody else", () => {
    const copy = mkdtempSync(join(tmpdir(), "compose-"));
    try {
      cpSync(join(PACKAGING, "make-secrets"), join(copy, "make-secrets"));
      const made = () => {
        expect(spawnSync(join(copy, "make-secrets"), { encoding: "utf8" })).toMatchObject({
          status: 0,
          stderr: "",
        });
        return Object.entries(file.secrets).map(([name, { file: path }]) => {
          expect(statSync(join(copy, path)).mode & 0o777).toBe(0o444);
          return [name, readFileSync(join(copy, path), "utf8")] as const;
        });
      };
      const first = made();
      expect(statSync(join(copy, "secrets")).mode & 0o777).toBe(0o700);
      const secrets = new Map(first);
      expect(secrets.get("s3_secret")).toMatch(/^[0-9a-f]{48}$/);
      expect(secrets.get("database_password")).toMatch(/^[0-9a-f]{48}$/);
      expect(secrets.get("metrics_token")).toMatch(/^[0-9a-f]{48}$/);
      expect(secrets.get("database_password")).not.toBe(secrets.get("s3_secret"));
      expect(secrets.get("database_url")).toBe(
        `postgresql://attestore:${secrets.get("database_password")}@postgres:5432/attestore`,
      );
      expect(made()).toEqual(first);
    } finally {
      rmSync(copy, { recursive: true });
    }
  });

  test("is backed up and restored by commands that name its services, database and directories", () => {
    const page = readFileSync(join(PACKAGING, "../../docs/operate.md"), "utf8");
    const commands = [...page.matchAll(/<!-- compose: \w+ -->\n```sh\n([^]*?)```/g)].map(
      ([, block = ""]) => block,
    );
    expect(commands).toHaveLength(2);
    const text = commands.join("");
    const named = [...text.matchAll(/\$compose (?:exec -T|run .*?(?:--entrypoint tar|--no-deps)) (\w+)/g)];
    expect(named).toHaveLength(7);
    for (const [, name] of named) expect(file.services).toHaveProperty(name ?? "");
    for (const [, names = ""] of text.matchAll(/\$compose up -d([^#\n]*)/g))
      for (const name of names.trim().split(" ").filter(Boolean)) expect(file.services).toHaveProperty(name);
    const { environment } = file.services["postgres"] ?? {};
    expect([environment?.["POSTGRES_USER"], environment?.["POSTGRES_DB"]]).toEqual([
      "attestore",
      "attestore",
    ]);
    const mounted = (name: string): string[] =>
      file.services[name]?.volumes?.map((volume) => volume.split(":")[1] ?? "") ?? [];
    expect(mounted("attestore")).toContain("/var/lib/attestore-server");
    expect(mounted("objects")).toEqual(
      expect.arrayContaining(["/data/objects", "/data/versions", "/data/metadata"]),
    );
  });

  test("lets agents upload over https only, because they accept nothing else", () => {
    expect(file.services["attestore"]?.environment?.["ATTESTORE_S3_ENDPOINT"]).toMatch(/^https:/);
  });
});

test("the example is a valid file of settings", () => {
  const path = join(PACKAGING, "config.example");
  expect([...readSettingsFile(path).keys()]).toEqual(["ATTESTORE_LISTEN"]);
  for (const [, name = ""] of readFileSync(path, "utf8").matchAll(/^#?([A-Z_]+)=/gm))
    expect(known).toContain(name);
});

describe("the certificate's maker", () => {
  let directory: string;
  beforeAll(() => {
    directory = mkdtempSync(join(tmpdir(), "certificate-"));
    mkdirSync(join(directory, "out"));
  });
  afterAll(() => rmSync(directory, { recursive: true }));

  const make = (out: string) =>
    spawnSync(process.execPath, [join(PACKAGING, "make-certificate.ts"), join(directory, out)], {
      encoding: "utf8",
      env: {
        PATH: process.env["PATH"],
        ATTESTORE_DATA: directory,
        ATTESTORE_S3_ENDPOINT: "https://s3.example.org:7070",
        ATTESTORE_S3_BUCKET: "attestore",
        ATTESTORE_S3_ACCESS_KEY_ID: "attestore",
        ATTESTORE_S3_SECRET_ACCESS_KEY: "secret",
      },
    });

  test("makes a certificate of the service's CA for the endpoint's host, once, valid as long as the CA's", () => {
    expect(make("out")).toMatchObject({ status: 0, stdout: "certificate of s3.example.org: made\n" });
    const pem = readFileSync(join(directory, "out/server.pem"));
    const leaf = new X509Certificate(pem);
    const authority = new X509Certificate(readFileSync(join(directory, "tls/ca.pem")));
    expect(leaf.verify(authority.publicKey)).toBe(true);
    expect(leaf.checkHost("s3.example.org")).toBe("s3.example.org");
    expect(leaf.checkPrivateKey(createPrivateKey(pem))).toBe(true);
    expect(leaf.validTo).toBe(authority.validTo);
    expect(make("out")).toMatchObject({
      status: 0,
      stdout: "certificate of s3.example.org: there already\n",
    });
    expect(readFileSync(join(directory, "out/server.pem"))).toEqual(pem);
    expect(existsSync(join(directory, "tls/server.pem"))).toBe(false);
  });

  test("names the directory where it cannot write", () => {
    const failed = make("nowhere");
    expect(failed.status).not.toBe(0);
    expect(failed.stderr).toContain("nowhere");
  });
});

describe("the bucket's maker", () => {
  let s3: S3Server;
  beforeAll(async () => {
    s3 = await startS3Server();
  });
  afterAll(() => s3.remove());

  const make = (more: Record<string, string> = {}) => {
    const { endpoint, region, accessKeyId, secretAccessKey } = s3.settings;
    return spawnSync(process.execPath, [join(PACKAGING, "make-bucket.ts")], {
      encoding: "utf8",
      env: {
        PATH: process.env["PATH"],
        ATTESTORE_S3_ENDPOINT: endpoint,
        ATTESTORE_S3_REGION: region,
        ATTESTORE_S3_BUCKET: "attestore",
        ATTESTORE_S3_ACCESS_KEY_ID: accessKeyId,
        ATTESTORE_S3_SECRET_ACCESS_KEY: secretAccessKey,
        ...more,
      },
    });
  };

  test("makes the bucket once, and says so if it exists", () => {
    expect(make()).toMatchObject({ status: 0, stdout: expect.stringMatching(/: made\n$/) });
    expect(make()).toMatchObject({ status: 0, stdout: expect.stringMatching(/: there already\n$/) });
    const refused = make({ ATTESTORE_S3_SECRET_ACCESS_KEY: "another" });
    expect(refused.status).not.toBe(0);
    expect(refused.stderr).toContain("403");
  });
});
