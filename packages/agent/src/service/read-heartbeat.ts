import {
  DeliveredCommand,
  DeliveredConfigRequest,
  HeartbeatResponse,
  Id,
  MAX_OPEN_CONFIG_REQUESTS,
} from "@attestore/contract";
import { Type, type Static } from "typebox";
import { Value } from "typebox/value";
import { ServiceError } from "../transport/service-error.ts";

/** A command of a service that is newer than this agent. */
export interface UnknownCommand {
  readonly id: string;
  readonly kind: string;
}

export interface HeardHeartbeat {
  /** With the commands that this agent knows. */
  readonly response: HeartbeatResponse;
  /**
   * Must not be acknowledged: an ack promises that there will be an outcome (contract, section 7).
   */
  readonly unknownCommands: readonly UnknownCommand[];
  /** Ids of requests to config.yaml that do not follow the contract exactly. */
  readonly malformedRequests: readonly string[];
}

/** The answer before each of its commands is checked. */
export const HeartbeatAnswer = Type.Object(
  {
    ...HeartbeatResponse.properties,
    commands: Type.Array(Type.Unknown()),
    config_requests: Type.Optional(Type.Array(Type.Unknown())),
  },
  { additionalProperties: false },
);

const NamedCommand = Type.Object({
  id: Id("command"),
  kind: Type.String({ pattern: "^[a-z][a-z0-9_]{0,63}$" }),
});
const KNOWN: readonly string[] = DeliveredCommand.properties.kind.enum;

/**
 * Separates the commands that this agent can run from kinds that it does not know.
 * @throws ServiceError `invalid_response` for something that is not a command, or an incomplete one
 * of a known kind
 */
export function readHeartbeat(host: string, answer: Static<typeof HeartbeatAnswer>): HeardHeartbeat {
  const commands: DeliveredCommand[] = [];
  const unknownCommands: UnknownCommand[] = [];
  for (const [index, value] of answer.commands.entries()) {
    const command = Value.Clean(DeliveredCommand, structuredClone(value));
    if (Value.Check(DeliveredCommand, command)) commands.push(command);
    else if (Value.Check(NamedCommand, value) && !KNOWN.includes(value.kind))
      unknownCommands.push({ id: value.id, kind: value.kind });
    else
      throw new ServiceError(
        "invalid_response",
        `${host} answered with status 200: its answer does not match the request (/commands/${index})`,
        { status: 200 },
      );
  }
  const { config_requests, ...rest } = answer;
  return {
    response: { ...rest, commands, ...requested(config_requests) },
    unknownCommands,
    malformedRequests: malformed(config_requests),
  };
}

/**
 * Unlike anything else that the service says, a request with a field too many is refused and not
 * read without it: a newer service that means more by it must not get less.
 */
function requested(values: readonly unknown[] = []): Pick<HeartbeatResponse, "config_requests"> {
  const some = values.slice(0, MAX_OPEN_CONFIG_REQUESTS);
  return { config_requests: some.filter((value) => Value.Check(DeliveredConfigRequest, value)) };
}

const NamedRequest = Type.Object({ id: Id("configRequest") });

function malformed(values: readonly unknown[] = []): string[] {
  return values
    .slice(0, MAX_OPEN_CONFIG_REQUESTS)
    .flatMap((value) =>
      Value.Check(NamedRequest, value) && !Value.Check(DeliveredConfigRequest, value) ? [value.id] : [],
    );
}
