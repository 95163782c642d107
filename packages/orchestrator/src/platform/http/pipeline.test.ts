import { afterAll, beforeAll, expect, test } from "vitest";
import { heartbeat, startTestService, type TestService } from "../../../test/service.ts";

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service.close());

test("an agent attaches and its heartbeat is answered", async () => {
  const org = await service.addOrg();
  const agent = await service.attach(org);
  const answer = await agent.post(
    "/v1/heartbeat",
    heartbeat({ sources: [{ slug: "orders", engine: "postgresql" }] }),
  );
  expect(answer.status, answer.body.toString()).toBe(200);
});
