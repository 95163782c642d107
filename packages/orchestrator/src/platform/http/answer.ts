/** What a handler answers: a status and a body that becomes JSON. */
export interface Answer {
  status: number;
  body: object;
  /** E.g. `Set-Cookie`; not kept for a replay. */
  headers?: Readonly<Record<string, string>>;
}

/** An answer as it goes over the wire: stored, replayed and sent byte for byte. */
export interface WireAnswer {
  status: number;
  body: Buffer;
  /** Whether it is an earlier answer given again, which `Idempotent-Replayed` tells the caller. */
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
