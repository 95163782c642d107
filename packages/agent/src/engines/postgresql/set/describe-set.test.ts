import { MAX_RECEIPT_BYTES, newId, type SourceMetadata } from "@attestore/contract";
import { envelopeToJson, formatStatement, PAYLOAD_TYPE, signEnvelope } from "@attestore/proof";
import { expect, test } from "vitest";
import { backupStatement } from "../../../receipts/statements.ts";
import { exactObjectsMetadata } from "../../content/tagged-objects.ts";
import { describeSet, tablesOfEach } from "./describe-set.ts";
import { globalObject } from "./global-objects.ts";
import { MAX_DATABASES } from "./names.ts";
import { databasesOfMetadata } from "./set-metadata.ts";

interface Each {
  readonly extensions: number;
  readonly roles: number;
  readonly name?: string;
}

/** Makes a set of that many databases, as its dump describes it. */
function metadataOf(databases: number, { extensions, roles, name = "tenant" }: Each): SourceMetadata {
  const long = (text: string): string => text.padEnd(63, name.at(-1));
  const listOf = <Item>(length: number, item: (index: number) => Item): Item[] =>
    Array.from({ length }, (_, index) => item(index));
  const described = listOf(databases, (index) => ({
    name: long(`${index}${name}`),
    metadata: {
      engine: "postgresql",
      engine_version: "17.2",
      dump_format: "pg_dump-custom",
      schema_hash: "a".repeat(64),
      encoding: "UTF8",
      database_bytes: 1_000,
      extensions: listOf(extensions, (each) => ({ name: `some_extension_${each}`, version: "1.2.3" })),
      named_roles: listOf(roles, (each) => long(`role_${each}_${name}`)),
      table_count: 400,
      row_counts: {
        tables: 400,
        counted: 400,
        budget_s: 60,
        rest: { tables: 399, rows: 12_345_678, sha256: "f".repeat(64) },
      },
      tables: listOf(tablesOfEach(databases), (each) => ({
        name: `${long(`schema${name}`)}.${long(`${each}${name}`)}`,
        schema: "b".repeat(32),
        rows: 12_345_678,
      })),
      schema_summary: {
        objects: listOf(50, (each) => ({
          kind: "table",
          name: `public.t${each}`,
          definition: "x".repeat(160),
        })),
        omitted: 350,
      },
    },
  }));
  const globals = {
    sql: Buffer.alloc(0),
    roles: listOf(400, (index) => long(`${index}${name}`)),
    hasPasswords: true,
    objects: exactObjectsMetadata(
      listOf(400, (index) => globalObject("role", long(`${index}${name}`), [])),
      Buffer.alloc(32),
    ),
  };
  const set = {
    version: "17.2",
    tools: "17.2",
    own: described[0]?.name ?? "",
    described,
    globals,
    lacksClosed: false,
  };
  return describeSet(set) as SourceMetadata;
}

/** The body that the service receives, with as many recipients as a backup can have. */
async function receiptBytes(metadata: SourceMetadata): Promise<number> {
  const now = new Date().toISOString();
  const made = {
    v: 1,
    sha256: "c".repeat(64),
    size_bytes: 1,
    source: "everything",
    command_id: null,
    cipher: { name: "age-v1", recipients: Array.from({ length: 32 }, () => "r".repeat(1024)) },
    source_metadata: metadata,
    started_at: now,
    finished_at: now,
    upload: null,
    registered: null,
  } as const;
  const agent = { orgId: newId("org"), agentId: newId("agent") };
  const cipher = { name: "age-v1" as const, recipients: [...made.cipher.recipients] };
  const statement = backupStatement(
    agent,
    { ...made, cipher },
    newId("source"),
    newId("backup"),
    "d".repeat(64),
  );
  const envelope = await signEnvelope({
    payloadType: PAYLOAD_TYPE,
    payload: formatStatement(statement),
    keyid: `SHA256:${"e".repeat(43)}`,
    sign: () => new Uint8Array(64),
  });
  return Buffer.byteLength(JSON.stringify(envelopeToJson(envelope)));
}

test.each<[string, Each]>([
  ["many extensions", { extensions: 60, roles: 2 }],
  ["many roles in policies", { extensions: 3, roles: 300 }],
  [
    "everything, with names that take six bytes a character",
    { extensions: 300, roles: 1_000, name: "x\u0001" },
  ],
])("the largest set has room in a receipt: %s", async (_, each) => {
  const metadata = metadataOf(MAX_DATABASES, each);
  expect(await receiptBytes(metadata)).toBeLessThan(MAX_RECEIPT_BYTES);
  const databases = databasesOfMetadata(metadata);
  expect(databases).toHaveLength(MAX_DATABASES);
  // The extensions and roles that a restore creates first are still listed, or else counted.
  for (const of of ["extensions", "named_roles"] as const) {
    const known = databases[0]?.metadata[of] as unknown[];
    const wanted = of === "extensions" ? each.extensions : each.roles;
    expect(known.length + Number(metadata[`${of}_omitted`] ?? 0), of).toBe(wanted);
    expect(known.length, of).toBeGreaterThanOrEqual(Math.min(wanted, 40));
  }
  const { objects, omitted } = metadata["schema_summary"] as { objects: unknown[]; omitted: number };
  expect(objects.length + omitted).toBe(MAX_DATABASES * 400);
  expect(metadata["table_count"]).toBe(MAX_DATABASES * 400);
});

test("a small set has each database's own facts", () => {
  const metadata = metadataOf(3, { extensions: 2, roles: 1 });
  expect(metadata).not.toHaveProperty("extensions");
  expect(metadata["databases"]).toMatchObject(
    Array.from({ length: 3 }, () => ({ extensions: [{}, { version: "1.2.3" }], named_roles: [{}] })).map(
      ({ extensions }) => ({ extensions, named_roles: [expect.any(String)] }),
    ),
  );
});
