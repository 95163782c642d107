import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ensureAgeIdentity } from "../../src/crypto/age-identity.ts";
import { readConfig, type Config } from "../../src/config/config.ts";
import { layoutOf, makeLayout, type Layout } from "../../src/state/layout.ts";
import { ensureSigningKey } from "../../src/signer/open-signing-keys.ts";
import { openAttachment, type Attachment } from "../../src/service/attachment.ts";
import { openService } from "../../src/service/service.ts";
import type { TestService } from "./test-service.ts";

export interface TestRoot {
  readonly layout: Layout;
  readonly config: Config;
  readonly attachment: Attachment;
  remove(): void;
}

/**
 * An install root that is attached to a test service, as `init` leaves one. `sources` is YAML below
 * `sources:`.
 */
export async function attachedRoot(service: TestService, sources = "  {}\n"): Promise<TestRoot> {
  const layout = layoutOf(mkdtempSync(join(tmpdir(), "attestore-agent-")));
  await makeLayout(layout);
  const key = await ensureSigningKey(layout);
  const recipient = await ensureAgeIdentity(layout.ageIdentity, null);
  service.publicKey = key.publicKey;
  writeFileSync(layout.token, `${service.token}\n`, { mode: 0o600 });
  writeFileSync(layout.ca, service.certificates.ca);
  writeFileSync(layout.logKey, `${service.log.verifierKey}\n`);
  writeFileSync(
    layout.config,
    `service: { url: "${service.url}", ca_file: keys/ca.pem }
agent: { id: ${service.agentId}, org_id: ${service.orgId} }
encryption: { recipients: [${recipient}], identity_files: [keys/age.key] }
sources:
${sources}`,
  );
  const config = await readConfig(layout.config, layout.root);
  const attachment = await openAttachment(layout, config);
  // Quick about it: what is waited for is never the point of a test.
  const quick = openService({
    url: new URL(service.url),
    pinnedCa: service.certificates.ca,
    token: service.token,
    backoff: { tries: 3, first_ms: 1, longest_ms: 20 },
    timeout_ms: 5_000,
  });
  return {
    layout,
    config,
    attachment: { ...attachment, service: quick },
    remove: () => {
      attachment.service.close();
      quick.close();
      rmSync(layout.root, { recursive: true });
    },
  };
}
