import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { hostname, tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { expect, test } from "vitest";
import { UserError } from "../errors/user-error.ts";
import { readConfig } from "./read-config.ts";
import { SETTINGS } from "./settings.ts";
import type { Setting } from "./settings.ts";

function problem(environment: Record<string, string>): string {
  try {
    readConfig(environment);
  } catch (error) {
    if (error instanceof UserError && error.code === "invalid_setting") return error.message;
    throw error;
  }
  throw new Error("it should have been refused");
}

test("without settings the service listens on this machine only and stores in ./data", () => {
  const config = readConfig({});
  expect(config).toMatchObject({
    data: resolve("data"),
    listen: { host: "127.0.0.1", port: 8443 },
    publicUrl: "https://localhost:8443",
    defaultLogHost: "localhost",
    hostnames: [],
    heartbeatInterval_s: 60,
    rateDefault: { limit: 600, window_s: 60 },
    s3Bucket: undefined,
    databaseUrl: undefined,
    trustProxy: [],
    logLevel: "info",
  });
});

test("the public URL follows from where it listens, the log's host from the public URL", () => {
  const from = (environment: Record<string, string>) => {
    const { publicUrl, defaultLogHost } = readConfig(environment);
    return [publicUrl, defaultLogHost];
  };
  expect(from({ ATTESTORE_LISTEN: ":9000" })).toEqual([`https://${hostname()}:9000`, hostname()]);
  expect(from({ ATTESTORE_LISTEN: "[::1]:9000" })).toEqual(["https://localhost:9000", "localhost"]);
  expect(from({ ATTESTORE_LISTEN: "10.0.0.7:443" })).toEqual(["https://10.0.0.7", "10.0.0.7"]);
  expect(from({ ATTESTORE_LISTEN: "[fd00::7]:8443" })).toEqual(["https://[fd00::7]:8443", "fd00::7"]);
  expect(from({ ATTESTORE_PUBLIC_URL: "https://Proof.example.org/" })).toEqual([
    "https://proof.example.org",
    "proof.example.org",
  ]);
});

test("values are parsed by their types", () => {
  const config = readConfig({
    ATTESTORE_HOSTNAMES: "a.example.org, 192.0.2.1  b",
    ATTESTORE_TRUST_PROXY: "10.0.0.0/8,::1",
    ATTESTORE_RATE_DEFAULT: "5/1",
    ATTESTORE_S3_PATH_STYLE: "no",
    ATTESTORE_DATA: "",
    DATABASE_URL: "postgresql://u:p@h:5432/d",
  });
  expect(config).toMatchObject({
    hostnames: ["a.example.org", "192.0.2.1", "b"],
    trustProxy: ["10.0.0.0/8", "::1"],
    rateDefault: { limit: 5, window_s: 1 },
    s3PathStyle: false,
    data: resolve("data"),
    databaseUrl: "postgresql://u:p@h:5432/d",
  });
});

test.each([
  ["ATTESTORE_LISTEN", "8443"],
  ["ATTESTORE_LISTEN", "localhost:70000"],
  ["ATTESTORE_LISTEN", "::1:8443"],
  ["ATTESTORE_PUBLIC_URL", "http://a.example.org"],
  ["ATTESTORE_PUBLIC_URL", "https://a.example.org/path"],
  ["ATTESTORE_PUBLIC_URL", "https://u@a.example.org"],
  ["ATTESTORE_HOSTNAMES", "a b/c"],
  ["ATTESTORE_LOG_HOST", "a+b"],
  ["ATTESTORE_HEARTBEAT_INTERVAL_S", "0"],
  ["ATTESTORE_HEARTBEAT_INTERVAL_S", "1e3"],
  ["ATTESTORE_RATE_DEFAULT", "600"],
  ["ATTESTORE_RATE_DEFAULT", "0/60"],
  ["ATTESTORE_TRUST_PROXY", "10.0.0.0/33"],
  ["ATTESTORE_S3_PATH_STYLE", "maybe"],
  ["ATTESTORE_LOG_LEVEL", "trace"],
])("%s=%s is refused, with its name and value", (variable, value) => {
  const message = problem({ [variable]: value });
  expect(message).toContain(variable);
  expect(message).toContain("must be");
});

test("a misspelt setting is refused with the right name; the agent's own are left alone", () => {
  expect(problem({ ATTESTORE_LISTN: "x" })).toBe(
    "Unknown setting ATTESTORE_LISTN. Did you mean ATTESTORE_LISTEN?",
  );
  expect(problem({ ATTESTORE_S3_BUKCET: "x" })).toContain("Did you mean ATTESTORE_S3_BUCKET?");
  expect(problem({ ATTESTORE_XYZZY_PLUGH_FROTZ: "x" })).toContain("Unset it.");
  readConfig({ ATTESTORE_HOME: "/x", ATTESTORE_AUTH_KEY: "secret", OTHER: "x" });
});

test("all mistakes are reported at once", () => {
  const lines = problem({ ATTESTORE_LISTEN: "x", ATTESTORE_DATTA: "y", ATTESTORE_LOG_LEVEL: "z" }).split(
    "\n",
  );
  expect(lines).toHaveLength(3);
});

test("settings that depend on each other are required together", () => {
  expect(problem({ ATTESTORE_TLS_CERT: "c.pem" })).toContain("ATTESTORE_TLS_KEY");
  expect(problem({ ATTESTORE_S3_BUCKET: "b" })).toContain("ATTESTORE_S3_SECRET_ACCESS_KEY");
});

test("a secret never appears in a message, and can be read from a file", () => {
  const message = problem({ DATABASE_URL: "mysql://user:hunter2@host/db" });
  expect(message).toContain("DATABASE_URL");
  expect(message).not.toContain("hunter2");
  const directory = mkdtempSync(join(tmpdir(), "config-"));
  writeFileSync(join(directory, "secret"), "hunter2\n");
  const s3 = { ATTESTORE_S3_BUCKET: "b", ATTESTORE_S3_ACCESS_KEY_ID: "a" };
  const config = readConfig({ ...s3, ATTESTORE_S3_SECRET_ACCESS_KEY: `file:${join(directory, "secret")}` });
  expect(config.s3SecretAccessKey).toBe("hunter2");
  rmSync(directory, { recursive: true });
  expect(problem({ ...s3, ATTESTORE_S3_SECRET_ACCESS_KEY: `file:${join(directory, "secret")}` })).toContain(
    "cannot be read",
  );
});

test("every setting has its own variable and says what it is for", () => {
  const all = Object.values(SETTINGS);
  expect(new Set(all.map((setting) => setting.variable)).size).toBe(all.length);
  for (const setting of all) expect(setting.description, setting.variable).toMatch(/\.$/);
});

test("docs/operate.md shows every setting with its default and meaning, and no other", () => {
  const page = readFileSync(new URL("../../../../../docs/operate.md", import.meta.url), "utf8");
  const rows = Object.values<Setting<unknown>>(SETTINGS).map(
    ({ variable, fallback = "", description }) =>
      `| \`${variable}\` | ${fallback === "" ? "" : `\`${fallback}\``} | ${description} |`,
  );
  expect(page.split("\n").filter((line) => /^\| `(ATTESTORE_|DATABASE_)/.test(line))).toEqual(rows);
});
