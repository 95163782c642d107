import { newId } from "@attestore/contract";
import { afterAll, beforeAll, expect, it } from "vitest";
import { abortAbandonedUploads } from "../../packages/orchestrator/src/features/backups/abandoned-uploads.ts";
import { insertUpload } from "../../packages/orchestrator/src/features/backups/upload-store.ts";
import { silentLogger } from "../../packages/orchestrator/src/platform/logging/logger.ts";
import { S3Store } from "../../packages/orchestrator/src/platform/objects/s3-store.ts";
import { heartbeat, startTestService, type TestService } from "../../packages/orchestrator/test/service.ts";
import { startS3Server, type S3Server } from "../e2e/harness/s3-server.ts";

/** Parts that nobody goes on with cost money and are in no list of objects. */

const HOUR_MS = 3_600_000;
let s3: S3Server;
let service: TestService;
let objects: S3Store;
beforeAll(async () => {
  s3 = await startS3Server();
  service = await startTestService();
  objects = new S3Store({ ...s3.settings, log: silentLogger });
});
afterAll(async () => {
  await service.close();
  await s3.remove();
});

it("are aborted a day after anybody last asked for URLs, known to the database or not", async () => {
  const agent = await service.attach(await service.addOrg());
  const declared = heartbeat({ sources: [{ slug: "orders", engine: "postgresql" }] });
  const beat = await agent.post("/v1/heartbeat", declared);
  const sourceId = (beat.json["sources"] as { id: string }[])[0]?.id ?? "";
  const now = new Date(Date.now() + 25 * HOUR_MS);

  const begin = async (urlsUntil: Date | null): Promise<string> => {
    const id = newId("upload");
    const key = `${agent.orgId}/${sourceId}/${id}.age`;
    const uploadId = await objects.multipart.create({ key });
    if (urlsUntil !== null)
      await service.database.transaction().execute((tx) =>
        insertUpload(tx, {
          id,
          org_id: agent.orgId,
          source_id: sourceId,
          agent_id: agent.id,
          object_key: key,
          sha256: Buffer.alloc(32),
          size_bytes: 100,
          multipart: JSON.stringify({ upload_id: uploadId, part_bytes: 5 * 1024 ** 2 }),
          expires_at: urlsUntil,
        }),
      );
    return key;
  };
  const unrecorded = await begin(null);
  const forgotten = await begin(new Date(now.getTime() - 24.5 * HOUR_MS));
  const renewed = await begin(new Date(now.getTime() - 23 * HOUR_MS));
  const others = await s3.send({ method: "POST", key: "somebody/else.bin", query: { uploads: "" } });
  expect(others.status).toBe(200);

  const listed = async (): Promise<string[]> => {
    const answer = await s3.send({ method: "GET", query: { uploads: "" } });
    return [...answer.body.toString().matchAll(/<Key>([^<]+)</g)].map(([, key]) => key ?? "").toSorted();
  };
  const options = { db: service.database, objects, logger: silentLogger };
  expect(await abortAbandonedUploads(options, new Date())).toBe(0);
  expect(await listed()).toEqual([unrecorded, forgotten, renewed, "somebody/else.bin"].toSorted());
  const counts = await Promise.all([
    abortAbandonedUploads(options, now),
    abortAbandonedUploads(options, now),
  ]);
  expect(Math.max(...counts)).toBe(2);
  expect(await listed()).toEqual([renewed, "somebody/else.bin"].toSorted());
  expect(await abortAbandonedUploads(options, now)).toBe(0);
  expect(await abortAbandonedUploads(options, new Date(now.getTime() + 2 * HOUR_MS))).toBe(1);
});
