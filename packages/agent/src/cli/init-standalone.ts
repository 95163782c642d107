import { hostname } from "node:os";
import { resolve } from "node:path";
import { newId } from "@attestore/contract";
import type { Layout } from "../state/layout.ts";
import { ensureSigningKey } from "../signer/open-signing-keys.ts";
import { UserError } from "../errors/user-error.ts";
import { HTTPS_ORIGIN, httpsOrigin } from "../config/https-origin.ts";
import { parseS3Url } from "../config/storage-config.ts";
import { writeRootConfig } from "../config/write-config.ts";
import { chooseRecipients, identityPlace } from "./keys/choose-recipients.ts";
import type { Call, ExitCode } from "./invocation/command.ts";

/**
 * Creates a root that works without a service: it makes its own ids, and its backups go to a
 * directory or a bucket.
 */
export async function initStandalone(call: Call, layout: Layout): Promise<ExitCode> {
  const { terminal, flags, root } = call;
  if (root.config?.service !== undefined && root.config?.service !== null)
    throw new UserError(
      "usage",
      `${layout.config} already names a service: remove it there, or leave out --standalone`,
    );
  const key = await ensureSigningKey(layout);
  const recipients = await chooseRecipients(call, layout, root.config);
  const agent = { id: newId("agent"), orgId: newId("org"), name: flags.text("name") ?? hostname() };
  // Write config.yaml last: a root whose config.yaml has an agent counts as complete.
  await writeRootConfig(layout, {
    home: { kind: "standalone", block: storageBlock(call) },
    agent,
    ...recipients,
  });
  if (flags.isOn("json")) {
    const told = { agent_id: agent.id, org_id: agent.orgId, root: layout.root };
    terminal.data(
      JSON.stringify({ ...told, key_fingerprint: key.fingerprint, recipients: recipients.recipients }),
    );
    return 0;
  }
  const { good } = terminal.onData;
  terminal.data(`${good("✓")} standalone root ${layout.root}, key ${key.fingerprint}`);
  if (recipients.identityFiles.length > 0)
    terminal.say(
      `Only ${await identityPlace(layout)} can decrypt the backups. To be able to recover without this host: attestore keys recovery-kit`,
    );
  terminal.note(`Next: attestore source add, and then: attestore backup`);
  return 0;
}

function storageBlock({ flags, cwd }: Call): Record<string, unknown> {
  const storage = flags.text("storage");
  const endpoint = flags.text("s3Endpoint");
  const region = flags.text("s3Region");
  const retention = { keep_last: 3, keep_daily: 7, keep_weekly: 5, keep_monthly: 12 };
  if (storage === undefined || !storage.startsWith("s3://")) {
    if (endpoint !== undefined || region !== undefined)
      throw new UserError("usage", "--s3-endpoint and --s3-region go with --storage s3://BUCKET/PREFIX");
    return storage === undefined ? { retention } : { storage: { path: resolve(cwd, storage) }, retention };
  }
  const place = parseS3Url(storage);
  if (place === null)
    throw new UserError("usage", `--storage takes a directory or s3://BUCKET/PREFIX, not ${storage}`);
  if (endpoint !== undefined && httpsOrigin(endpoint) === null)
    throw new UserError("usage", `--s3-endpoint takes ${HTTPS_ORIGIN}`);
  const s3 = {
    bucket: place.bucket,
    ...(place.prefix === "" ? {} : { prefix: place.prefix }),
    ...(endpoint === undefined ? {} : { endpoint }),
    ...(region === undefined ? {} : { region }),
    access_key_id: "env:AWS_ACCESS_KEY_ID",
    secret_access_key: "env:AWS_SECRET_ACCESS_KEY",
  };
  return { storage: { s3 }, retention };
}
