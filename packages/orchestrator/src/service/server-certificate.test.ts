import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { RecordingLogger } from "../../test/recording-logger.ts";
import { readConfig } from "../platform/config/read-config.ts";
import { ServerCertificate } from "./server-certificate.ts";

const NOT_RENEWED = "the server certificate could not be renewed";

test("a certificate file that is only half written is not served, and the next whole one is", async () => {
  const root = await mkdtemp(join(tmpdir(), "server-certificate-"));
  onTestFinished(() => rm(root, { recursive: true }));
  const [file, key] = [join(root, "own.pem"), join(root, "own.key")];
  const made = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=own"];
  await promisify(execFile)("openssl", ["req", "-x509", ...made, "-keyout", key, "-out", file]);
  const log = new RecordingLogger();
  log.expected.add(NOT_RENEWED);
  const environment = { ATTESTORE_DATA: root, ATTESTORE_TLS_CERT: file, ATTESTORE_TLS_KEY: key };
  const certificate = await ServerCertificate.load(readConfig(environment), null, log);
  const server = createServer(certificate.options);
  onTestFinished(certificate.renewFor((options) => server.setSecureContext(options)));

  const whole = await readFile(file, "utf8");
  await writeFile(file, `${whole}${whole.slice(0, 200)}`);
  process.emit("SIGHUP");
  await expect.poll(() => log.has(NOT_RENEWED)).toBe(true);
  expect(certificate.pem).toBe(whole);

  await writeFile(file, `${whole}${whole}`);
  process.emit("SIGHUP");
  await expect.poll(() => certificate.pem).toBe(`${whole}${whole}`);
});
