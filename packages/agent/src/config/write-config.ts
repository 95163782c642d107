import { replaceFile } from "@attestore/host/durable-files";
import { Document, parseDocument } from "yaml";
import type { Layout } from "../state/layout.ts";
import { readText } from "../state/read-json.ts";

export interface RootSettings {
  /** Either a service, or the content of `standalone:`. */
  readonly home:
    | { readonly kind: "service"; readonly url: URL; /** To keys/ca.pem. */ readonly isPinned: boolean }
    | { readonly kind: "standalone"; readonly block: Readonly<Record<string, unknown>> };
  readonly agent: { readonly id: string; readonly orgId: string; readonly name: string };
  readonly recipients: readonly string[];
  /** Relative to the root, or absolute. */
  readonly identityFiles: readonly string[];
  /** Leaves the file as it is if this is false. */
  readonly allowRemoteConfig?: boolean;
}

/**
 * Writes what `init` found out to config.yaml; everything that somebody wrote there stays,
 * including comments.
 */
export async function writeRootConfig(layout: Layout, settings: RootSettings): Promise<void> {
  const before = await readText(layout.config);
  const document = before === null ? new Document({}) : parseDocument(before);
  if (document.contents === null) document.contents = document.createNode({});
  const set = (path: string[], value: unknown): void =>
    document.setIn(path, document.createNode(value, { flow: Array.isArray(value) }));
  const { home } = settings;
  if (home.kind === "standalone") set(["standalone"], home.block);
  else
    set(["service"], {
      url: home.url.origin,
      ...(home.isPinned ? { ca_file: "keys/ca.pem" } : {}),
    });
  set(["agent"], { id: settings.agent.id, org_id: settings.agent.orgId, name: settings.agent.name });
  set(["encryption", "recipients"], [...settings.recipients]);
  set(["encryption", "identity_files"], [...settings.identityFiles]);
  if (settings.allowRemoteConfig === true) set(["allow_remote_config"], true);
  const text = document.toString({ lineWidth: 0 });
  await replaceFile(layout.config, before === null ? `${text}${EXAMPLE}` : text);
}

const EXAMPLE = `
# What to back up. This file says where a database's connection is, and holds no secret:
#
# sources:
#   orders:
#     engine: postgresql          # postgresql, sqlite or files
#     connection: env:ORDERS_URL  # or file:PATH; sqlite and files: path: PATH
#     checks:
#       - { id: has-orders, query: "select count(*) as n from orders", expect: "n >= 1000" }
`;
