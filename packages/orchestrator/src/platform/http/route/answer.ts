/** What a handler returns: a status and a body that becomes JSON. */
export interface Answer {
  status: number;
  body: object;
  /** E.g. `Set-Cookie`; not stored for a replay. */
  headers?: Readonly<Record<string, string>>;
}

/** An answer as it is sent: stored, replayed and sent byte for byte. */
export interface WireAnswer {
  status: number;
  body: Buffer;
  /** Whether this is an earlier answer sent again; `Idempotent-Replayed` tells the caller. */
  replayed: boolean;
  headers?: Readonly<Record<string, string>>;
}

export function toWire(answer: Answer): WireAnswer {
  return {
    status: answer.status,
    body: Buffer.from(JSON.stringify(answer.body)),
    replayed: false,
    ...(answer.headers === undefined ? {} : { headers: answer.headers }),
  };
}
