import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Server, type Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";

/**
 * What a network does: `latency` holds every packet, `slow` lets few bytes through, `cut` ends
 * connections and accepts none, `reset` ends those that there are, and `half-open` takes what is
 * sent and says nothing for ever, as a firewall that forgot a connection.
 */
export const NETWORK_TROUBLES = ["latency", "slow", "cut", "reset", "half-open"] as const;
export type NetworkTrouble = (typeof NETWORK_TROUBLES)[number];

const LATENCY_MS = 150;
/** 16 KiB a second in each direction of each connection. */
const SLOW = { bytes: 1024, every_ms: 62 };

interface Link {
  ends: Socket[];
  /** Nothing passes any more, and neither end hears of the other. */
  isDead: boolean;
}

/** A TCP proxy on a port of 127.0.0.1, in front of one port or of several that take turns. */
export class Proxy {
  readonly #server: Server;
  readonly #targets: readonly number[];
  readonly #links = new Set<Link>();
  #trouble: NetworkTrouble | null = null;
  #turn = 0;

  private constructor(server: Server, targets: readonly number[]) {
    this.#server = server;
    this.#targets = targets;
    server.on("connection", (client) => void this.#accept(client));
  }

  static async open(...targets: number[]): Promise<Proxy> {
    const server = createServer({ allowHalfOpen: true });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    return new Proxy(server, targets);
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** From now on, for connections that there are and for new ones. */
  begin(trouble: NetworkTrouble): void {
    this.#trouble = trouble;
    for (const link of this.#links) {
      if (trouble === "half-open") link.isDead = true;
      if (trouble === "cut" || trouble === "reset") for (const end of link.ends) end.resetAndDestroy();
    }
  }

  /** New connections are well. What was lost stays lost. */
  heal(): void {
    this.#trouble = null;
  }

  async close(): Promise<void> {
    for (const link of this.#links) for (const end of link.ends) end.destroy();
    this.#server.close();
    await once(this.#server, "close");
  }

  async #accept(client: Socket): Promise<void> {
    client.on("error", () => undefined);
    client.setNoDelay();
    if (this.#trouble === "cut") return void client.resetAndDestroy();
    const link: Link = { ends: [client], isDead: this.#trouble === "half-open" };
    this.#links.add(link);
    client.once("close", () => {
      if (link.ends.every((end) => end.destroyed)) this.#links.delete(link);
    });
    if (link.isDead) return void client.resume();
    const target = await this.#connect();
    if (target === null) return void client.resetAndDestroy();
    link.ends.push(target);
    target.on("error", () => undefined);
    target.once("close", () => {
      if (link.ends.every((end) => end.destroyed)) this.#links.delete(link);
    });
    this.#pump(link, client, target);
    this.#pump(link, target, client);
  }

  async #connect(): Promise<Socket | null> {
    const first = this.#turn++;
    for (let n = 0; n < this.#targets.length; n++) {
      const port = this.#targets[(first + n) % this.#targets.length] ?? 0;
      const target = connect({ port, host: "127.0.0.1", allowHalfOpen: true, noDelay: true });
      const isOpen = await new Promise<boolean>((resolve) => {
        target.once("connect", () => resolve(true));
        target.once("error", () => resolve(false));
      });
      if (isOpen) return target;
    }
    return null;
  }

  #pump(link: Link, from: Socket, to: Socket): void {
    from.on("data", (bytes: Buffer) => {
      from.pause();
      void this.#forward(link, bytes, to).then(() => from.resume());
    });
    from.once("end", () => {
      if (!link.isDead) to.end();
    });
    from.once("close", () => {
      if (!link.isDead) to.destroy();
    });
  }

  async #forward(link: Link, bytes: Buffer, to: Socket): Promise<void> {
    if (this.#trouble === "latency") await delay(LATENCY_MS);
    for (let at = 0; at < bytes.length;) {
      if (link.isDead || to.destroyed) return;
      const isSlow = this.#trouble === "slow";
      const piece = isSlow ? bytes.subarray(at, at + SLOW.bytes) : bytes.subarray(at);
      if (isSlow) await delay(SLOW.every_ms);
      at += piece.length;
      if (!to.write(piece)) await writable(to);
    }
  }
}

/** Resolves when the socket takes more, or nothing any more. */
function writable(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      socket.off("drain", done).off("close", done);
      resolve();
    };
    socket.on("drain", done).on("close", done);
  });
}
