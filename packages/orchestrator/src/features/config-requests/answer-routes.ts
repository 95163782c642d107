import { ConfigAnswer, ConfigAnswerAccepted, Id } from "@attestore/contract";
import { Type } from "@fastify/type-provider-typebox";
import type { Clock } from "../../platform/clock.ts";
import { invalidRequest, notFound } from "../../platform/errors/api-error.ts";
import { type Route, writeRoute } from "../../platform/http/route/route.ts";
import { lockDelivered, setAnswer } from "./store.ts";

/** Takes what an agent did, once: a second answer to the same request changes nothing. */
export function configAnswerRoutes({ clock }: { clock: Clock }): Route[] {
  return [
    writeRoute({
      method: "POST",
      path: "/v1/config-requests/:id/answer",
      summary: "Answer a request for this host's configuration",
      action: "config_requests.answer",
      credential: "agent",
      params: Type.Object({ id: Id("configRequest") }),
      body: ConfigAnswer,
      answers: { 200: ConfigAnswerAccepted },
      rateLimits: ["default"],
      async handle({ params: { id }, body: answer, principal }, tx) {
        const delivered = await lockDelivered(tx, { agentId: principal.id, id });
        if (delivered === null) throw notFound("request");
        if ("result" in answer && answer.result.kind !== delivered.request.kind)
          throw invalidRequest("This is the answer to another kind of request.", [
            { path: "/result/kind", message: `must be ${delivered.request.kind}` },
          ]);
        if (delivered.status === "delivered") await setAnswer(tx, { id, answer, at: clock() });
        return { status: 200, body: { id } };
      },
    }),
  ];
}
