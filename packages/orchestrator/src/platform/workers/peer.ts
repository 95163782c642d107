/** The procedures of a channel's other end; each answer is awaited. */
export type Procedures = Readonly<Record<string, (body: never) => unknown>>;

type Message =
  | { call: string; body: unknown; id: number | null }
  | { answered: number; value?: unknown; error?: string };

interface Waiting {
  resolve: (value: unknown) => void;
  reject: (error: Error) => void;
}

/**
 * One end of a channel between two processes of the service, which trust each other. Messages
 * arrive in order; answers come as they are ready.
 */
export class Peer {
  readonly #send: (message: object) => void;
  readonly #procedures: Procedures;
  readonly #waiting = new Map<number, Waiting>();
  #calls = 0;
  #isGone = false;

  constructor(send: (message: object) => void, procedures: Procedures) {
    this.#send = send;
    this.#procedures = procedures;
  }

  /** Rejects if the procedure does, and if the other process is gone. */
  call<T>(name: string, body: unknown = null): Promise<T> {
    if (this.#isGone) return Promise.reject(gone());
    return new Promise<T>((resolve, reject) => {
      const id = (this.#calls += 1);
      this.#waiting.set(id, { resolve: resolve as (value: unknown) => void, reject });
      this.#send({ call: name, body, id });
    });
  }

  /** Without waiting for an answer. */
  tell(name: string, body: unknown = null): void {
    if (!this.#isGone) this.#send({ call: name, body, id: null });
  }

  /** For each message that comes from the other process. */
  take(received: unknown): void {
    const message = received as Message;
    if ("call" in message) void this.#run(message);
    else if ("answered" in message) {
      const waiting = this.#waiting.get(message.answered);
      this.#waiting.delete(message.answered);
      if (message.error === undefined) waiting?.resolve(message.value);
      else waiting?.reject(new Error(message.error));
    }
  }

  /** The other process is gone. */
  end(): void {
    this.#isGone = true;
    for (const { reject } of this.#waiting.values()) reject(gone());
    this.#waiting.clear();
  }

  async #run({ call, body, id }: Extract<Message, { call: string }>): Promise<void> {
    const procedure = this.#procedures[call];
    if (procedure === undefined) throw new Error(`the other process asks for ${call}`);
    if (id === null) return void procedure(body as never);
    try {
      const value = await procedure(body as never);
      if (!this.#isGone) this.#send({ answered: id, value });
    } catch (error) {
      const text = error instanceof Error ? error.message : String(error);
      if (!this.#isGone) this.#send({ answered: id, error: text });
    }
  }
}

function gone(): Error {
  return new Error("the other process of the service is gone");
}
