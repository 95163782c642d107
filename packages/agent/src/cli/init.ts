import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { hostname } from "node:os";
import { text as readAll } from "node:stream/consumers";
import { resolve } from "node:path";
import { AUTH_KEY } from "@attestore/contract";
import { replaceFile } from "@attestore/host/durable-files";
import { errorCode } from "@attestore/host/errno";
import { HTTPS_ORIGIN, httpsOrigin } from "../config/https-origin.ts";
import { readConfig, type Config } from "../config/config.ts";
import { layoutOf, makeLayout, type Layout } from "../state/layout.ts";
import { readText } from "../state/read-json.ts";
import { ensureSigningKey } from "../signer/open-signing-keys.ts";
import { askSecret } from "./terminal/ask-secret.ts";
import { wrongKey } from "../errors/wrong-key.ts";
import { UserError } from "../errors/user-error.ts";
import { writeRootConfig } from "../config/write-config.ts";
import { readPinnedCa } from "../transport/pinned-ca.ts";
import { hostFacts } from "../state/host-facts.ts";
import { fetchPinnedCertificate } from "../transport/pin-certificate.ts";
import { openService } from "../service/service.ts";
import {
  attachInteractively,
  attachWithKey,
  forgetAttach,
  type Attaching,
} from "../backends/attached/attach.ts";
import type { Call, Run } from "./invocation/command.ts";
import { chooseRecipients, identityPlace } from "./keys/choose-recipients.ts";
import { initStandalone } from "./init-standalone.ts";
import { takeWorkLock } from "./invocation/work-lock.ts";

export const init: Run = async (call) => {
  const { terminal, signal, flags } = call;
  if (call.root.resolved === null) throw call.root.problem;
  const layout = layoutOf(call.root.resolved.path);
  await makeRoot(layout);
  using _ = await takeWorkLock(layout, "init", { signal, wait: false, say: terminal.say });
  const before = await existingConfig(layout);
  if (before !== null && before.agent !== null) {
    throw new UserError(
      "already_attached",
      `${layout.root} is already attached, as ${before.agent.id}. Name another root with --root DIR.`,
    );
  }
  const allowRemoteConfig = flags.isOn("allowRemoteConfig");
  if (flags.isOn("standalone") && allowRemoteConfig)
    throw new UserError(
      "usage",
      "--allow-remote-config is for the dashboard, which a standalone host does not have",
    );
  if (flags.isOn("standalone")) return await initStandalone(call, layout);
  const url = serviceUrl(flags.text("service") ?? before?.service?.url.href);
  const pinned = await pinCa(call, layout, url, before);
  const wasAttached = existsSync(layout.token);
  const key = await ensureSigningKey(layout);
  const recipients = await chooseRecipients(call, layout, before);
  const service = openService({ url, pinnedCa: pinned, token: null });
  try {
    const attaching: Attaching = {
      layout,
      service,
      signal,
      host: {
        name: flags.text("name") ?? hostname(),
        public_key: key.wire,
        ...hostFacts(),
      },
    };
    const authKey = await readAuthKey(call);
    const attached =
      authKey === null
        ? await attachInteractively(attaching, ({ code, attach_url }) => {
            terminal.say(`Attach this host: open ${attach_url}`);
            terminal.say(`and enter the code  ${terminal.onTalk.strong(code)}`);
            terminal.say(`The page shows this host's key. It must be  ${key.fingerprint}`);
            terminal.say("Waiting for approval (up to 15 minutes). Ctrl-C cancels.");
          })
        : await attachWithKey(attaching, authKey);
    await replaceFile(layout.token, `${attached.api_token}\n`);
    await replaceFile(layout.logKey, `${attached.log.verifier_key}\n`);
    // Write config.yaml last: a root whose config.yaml has an agent counts as attached.
    await writeRootConfig(layout, {
      home: { kind: "service", url, isPinned: pinned !== null },
      agent: { id: attached.agent_id, orgId: attached.org_id, name: attaching.host.name },
      ...recipients,
      allowRemoteConfig,
    });
    await forgetAttach(layout);
    if (flags.isOn("json")) {
      terminal.data(
        JSON.stringify({
          agent_id: attached.agent_id,
          org_id: attached.org_id,
          root: layout.root,
          key_fingerprint: key.fingerprint,
          recipients: recipients.recipients,
        }),
      );
    } else {
      const { good } = terminal.onData;
      terminal.data(`${good("✓")} attached as ${attached.agent_id}, key ${key.fingerprint}`);
      terminal.data(`${good("✓")} root ${layout.root}`);
      if (wasAttached)
        terminal.say(
          'It signs with the key that was in the root already. If somebody else may have that key, put the root aside and attach anew: docs/keys.md, "A stolen key or token".',
        );
      if (recipients.identityFiles.length > 0) {
        terminal.say(
          `Only ${await identityPlace(layout)} can decrypt the backups: keep a copy of it offline, on another host.`,
        );
      }
      if (allowRemoteConfig)
        terminal.data(
          `${good("✓")} owners and admins may add sources and checks in the dashboard; attestore remote-config off ends it`,
        );
      terminal.note(
        "Next: attestore source add, then attestore run. Leave it running, or start its systemd unit: it does what the dashboard asks for, and what is scheduled.",
      );
    }
    return 0;
  } finally {
    service.close();
  }
};

async function makeRoot(layout: Layout): Promise<void> {
  try {
    await makeLayout(layout);
  } catch (error) {
    throw new UserError(
      "root_unusable",
      `${layout.root} can't be created (${errorCode(error) ?? "unknown error"}). Name another place with --root DIR.`,
      { cause: error },
    );
  }
}

async function existingConfig(layout: Layout): Promise<Config | null> {
  return (await readText(layout.config)) === null ? null : readConfig(layout.config, layout.root);
}

function serviceUrl(given: string | undefined): URL {
  if (given === undefined) throw new UserError("usage", "which service? Give --service https://HOST[:PORT]");
  const url = httpsOrigin(given);
  if (url === null) throw new UserError("usage", `--service takes ${HTTPS_ORIGIN}, not ${given}`);
  return url;
}

/**
 * The CA in PEM that the service must prove itself with, copied into the root; null for the public
 * CAs.
 */
async function pinCa(call: Call, layout: Layout, url: URL, before: Config | null): Promise<string | null> {
  const { flags, cwd, signal } = call;
  const file = flags.text("caFile");
  const fingerprint = flags.text("caSha256");
  if (file !== undefined && fingerprint !== undefined)
    throw new UserError("usage", "give --ca-file or --ca-sha256, not both");
  let pem: string | null;
  if (fingerprint !== undefined) pem = await fetchPinnedCertificate(url, fingerprint, signal);
  else pem = await readPinnedCa(file === undefined ? (before?.service?.caFile ?? null) : resolve(cwd, file));
  if (pem !== null) await replaceFile(layout.ca, pem);
  return pem;
}

/**
 * Never read from the command line, where every process of the host could see it. Null means
 * attaching interactively.
 */
async function readAuthKey({ flags, env, cwd, signal }: Call): Promise<string | null> {
  const file = flags.text("authKeyFile");
  let text = env["ATTESTORE_AUTH_KEY"];
  if (file === "-") text = await readAll(process.stdin);
  else if (file !== undefined) {
    try {
      text = await readFile(resolve(cwd, file), "utf8");
    } catch (error) {
      throw new UserError("usage", `${file} can't be read (${errorCode(error) ?? "unknown error"})`, {
        cause: error,
      });
    }
  }
  text ??= (await askSecret("Auth key (press Enter to attach interactively): ", signal)) ?? "";
  if (text.trim() === "") return null;
  if (!AUTH_KEY.test(text.trim()))
    throw new UserError("usage", `that is not an auth key; auth keys look like atk_…_…${wrongKey(text)}`);
  return text.trim();
}
