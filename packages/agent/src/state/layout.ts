import { join } from "node:path";
import { makeDirectory } from "@attestore/host/durable-files";

/** Where everything is below the install root. Directories are 0700, files 0600. */
export interface Layout {
  readonly root: string;
  readonly config: string;
  /** The environment that the service's unit is started with. */
  readonly environment: string;
  /** Signing key, age identity, token, the service's CA, the log's verifier key. */
  readonly keys: string;
  readonly signingKey: string;
  readonly publicKey: string;
  /**
   * The socket of the signing process that has the key instead of `signingKey`; missing if this
   * process signs itself.
   */
  readonly signer: string;
  readonly token: string;
  readonly ageIdentity: string;
  readonly definitionsKey: string;
  readonly ca: string;
  readonly logKey: string;
  /** An attach that was started and whose answer is not on disk yet. */
  readonly pendingAttach: string;
  /** Ciphertexts on their way to the object store; each has a `<sha256>.json` once it is whole. */
  readonly blobs: string;
  /** Standalone: the stored backups, and what their receipts can be tested against. */
  readonly storedBackups: string;
  /** Accepted receipts with their proofs; standalone: all receipts. */
  readonly receipts: string;
  readonly receiptsWaiting: string;
  readonly receiptsRefused: string;
  /** Answers of the service to receipts and events that could not be verified. */
  readonly alarms: string;
  readonly events: string;
  readonly eventsWaiting: string;
  readonly eventsRefused: string;
  /** Commands from the service that are not done. */
  readonly commands: string;
  readonly commandsDone: string;
  /** People's requests over the service about config.yaml, and their answers. */
  readonly configRequests: string;
  /** The log as this agent, its witness, has seen it. */
  readonly log: string;
  readonly keptCheckpoint: string;
  /** The later generations of the log that this agent followed to. */
  readonly generations: string;
  /** Bundles and answers whose place the log lost: the former proof, with the log's signature. */
  readonly lostPlaces: string;
  readonly logAlarm: string;
  readonly logAlarmsCleared: string;
  /** Files that the kernel locks; never removed. */
  readonly locks: string;
  /** Where restore tests work; empty while none runs. */
  readonly scratch: string;
  /** Slug to id, as the service told it. */
  readonly sources: string;
  /** Slug to the databases that it may be. */
  readonly sourcePins: string;
  /** Slug to the losses that a person accepted. */
  readonly acceptedLosses: string;
  /** By source: what tests saw of tables that receipts have no room to name. */
  readonly unnamedTables: string;
  /** By source: the draw of the backup to test that has no result yet. */
  readonly draws: string;
  /** When the service last answered. */
  readonly lastHeartbeat: string;
}

export function layoutOf(root: string): Layout {
  const keys = join(root, "keys");
  const receipts = join(root, "receipts");
  const events = join(root, "events");
  const commands = join(root, "commands");
  const log = join(root, "log");
  return {
    root,
    config: join(root, "config.yaml"),
    environment: join(root, "env"),
    keys,
    signingKey: join(keys, "agent.key"),
    publicKey: join(keys, "agent.pub"),
    signer: join(keys, "agent.signer"),
    token: join(keys, "token"),
    ageIdentity: join(keys, "age.key"),
    definitionsKey: join(keys, "definitions.key"),
    ca: join(keys, "ca.pem"),
    logKey: join(keys, "log.vkey"),
    pendingAttach: join(keys, "attach.pending.json"),
    blobs: join(root, "blobs"),
    storedBackups: join(root, "blobs", "stored"),
    receipts,
    receiptsWaiting: join(receipts, "waiting"),
    receiptsRefused: join(receipts, "refused"),
    alarms: join(log, "alarms"),
    events,
    eventsWaiting: join(events, "waiting"),
    eventsRefused: join(events, "refused"),
    commands,
    commandsDone: join(commands, "done"),
    configRequests: join(root, "config-requests"),
    log,
    keptCheckpoint: join(log, "head.json"),
    generations: join(log, "generations.json"),
    lostPlaces: join(log, "lost"),
    logAlarm: join(log, "alarm.json"),
    logAlarmsCleared: join(log, "cleared"),
    locks: join(root, "locks"),
    scratch: join(root, "scratch"),
    sources: join(log, "sources.json"),
    sourcePins: join(log, "pinned.json"),
    acceptedLosses: join(log, "accepted.json"),
    unnamedTables: join(log, "tables"),
    draws: join(log, "draws"),
    lastHeartbeat: join(log, "heartbeat.json"),
  };
}

/** Creates whatever is missing in the layout. */
export async function makeLayout(layout: Layout): Promise<void> {
  for (const directory of [
    layout.root,
    layout.keys,
    layout.blobs,
    layout.receiptsWaiting,
    layout.receiptsRefused,
    layout.alarms,
    layout.eventsWaiting,
    layout.eventsRefused,
    layout.commandsDone,
    layout.configRequests,
    layout.logAlarmsCleared,
    layout.lostPlaces,
    layout.locks,
    layout.scratch,
  ]) {
    await makeDirectory(directory);
  }
}
