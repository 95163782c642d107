import {
  declaredDraw,
  type DeclaredDraw,
  DRAW_DECLARED,
  envelopeFromJson,
  type EventBundle,
  type NoteVerifier,
  openDraw,
  plural,
  ProofError,
  type Rollback,
  toBase64,
} from "@attestore/proof";
import { GrowingNumbers, sortedNumbers } from "../../compact/growing-numbers.ts";
import { TextIndex } from "../../compact/text-index.ts";
import type { CheckedEntry } from "../entries/check-entries.ts";
import type { CheckedEvent } from "../entries/check-event.ts";
import type { CheckedReceipt } from "../entries/check-receipt.ts";
import { Findings } from "../findings.ts";
import { KeptBackups, mayBeAskedBefore } from "./kept-backups.ts";
import { isKeptTest, type KeptDraw } from "../entries/kept-statement.ts";

/** At most this many draws are named. */
const MAX_NAMED = 5;

/** The log whose heads decided. */
interface DrawLog {
  logKey: NoteVerifier;
  rollbacks: readonly Rollback[];
  /** Hex root of the tree that ends with a draw's declaration, by its index. */
  roots: { get(index: number): string | undefined };
  /** When the pack's period begins. */
  from: string;
  /** The leaves that the pack has. */
  range: { from_index: number; to_index: number };
}

/** Reads checked entries again, by their files' numbers. */
interface Read {
  idOf(file: number): string;
  eventAt(file: number): Promise<EventBundle>;
  /** The draw in a test's receipt. */
  drawAt(file: number): Promise<KeptDraw | null>;
}

/**
 * Checks what a receipt with a draw cannot show alone: that no draw counts for two tests, that no
 * agent drew again while a draw had no result, that no kept backup was left out, and that the head
 * that decided is of the pack's log. Draws without a result are named.
 *
 * Memory has a few numbers of each draw. What it says is read again when it is needed.
 */
export class DrawsCheck {
  readonly #log: DrawLog;
  readonly #read: Read;
  readonly #findings = new Findings();
  readonly #backups = new KeptBackups();
  readonly #draws = {
    file: GrowingNumbers.uint32(),
    index: GrowingNumbers.float64(),
    group: GrowingNumbers.uint32(),
  };
  /** Source and agent of draws: only one of these may draw again. */
  readonly #groups = new TextIndex();
  /** The first draw of a log that lost entries, by what its leaf covers. */
  readonly #byBody = new TextIndex();
  /** The test's file by the draw's id. */
  readonly #used = new TextIndex();
  /** Tests of draws whose place the log lost. */
  readonly #lost = GrowingNumbers.uint32();

  constructor(log: DrawLog, read: Read) {
    this.#log = log;
    this.#read = read;
  }

  /** In log order. */
  add(entry: CheckedEntry): void {
    if ("statement" in entry) this.#addReceipt(entry);
    else this.#addEvent(entry);
  }

  async finish(findings: Findings): Promise<void> {
    for (const file of this.#lost) await this.#useLost(file);
    const { file, index } = this.#draws;
    const order = sortedNumbers(index.length, (a, b) => index.at(a) - index.at(b));
    if (order.length > 0 || this.#used.size > 0) {
      for (const n of order) await this.#requireAll(file.at(n));
      const open = await this.#requireGone(order);
      const named = open.named.join(", ");
      const more = open.count > open.named.length ? ` and ${open.count - open.named.length} more` : "";
      const without = open.count === 0 ? "" : `; ${open.count} without a result: ${named}${more}`;
      this.#findings.hold(
        "draws",
        `${plural(order.length, "draw")}, ${plural(this.#used.size, "test of a drawn backup", "tests of drawn backups")}${without}`,
      );
    }
    findings.takeOver(this.#findings);
  }

  #addReceipt(receipt: CheckedReceipt): void {
    this.#backups.addBackup(receipt);
    const { file, id, statement } = receipt;
    if (!isKeptTest(statement) || statement.draw === null) return;
    if (this.#isLost(statement.draw)) return this.#lost.push(file);
    const { logIndex, rootHash } = statement.draw;
    const { roots, range } = this.#log;
    // Where the pack has another leaf in that place, there is no root of a draw.
    const isInRange = logIndex >= range.from_index && logIndex < range.to_index;
    if (isInRange && roots.get(logIndex) !== rootHash)
      this.#findings.fail("draws", `${id}: the head that decided its draw is not of the pack's log`);
    this.#use(statement.draw.eventId, file);
  }

  #addEvent(event: CheckedEvent): void {
    this.#backups.addEvent(event);
    const { file, id, logIndex, bundle } = event;
    // A draw that its agent did not sign decides nothing.
    if (bundle.leaf.kind !== DRAW_DECLARED || bundle.envelope === undefined) return;
    try {
      const { sourceId, agentId } = declarationIn(bundle).draw;
      const group = this.#groups.get(`${sourceId} ${agentId}`) ?? this.#groups.size;
      this.#groups.set(`${sourceId} ${agentId}`, group);
      this.#draws.group.push(group);
      this.#draws.file.push(file);
      this.#draws.index.push(logIndex);
      const { body_sha256 } = bundle.leaf;
      if (this.#log.rollbacks.length > 0 && !this.#byBody.has(body_sha256))
        this.#byBody.set(body_sha256, file);
    } catch (error) {
      if (!(error instanceof ProofError)) throw error;
      if (error.code === "unknown_version") this.#findings.leaveOpen("draws", `${id}: ${error.message}`);
      else this.#findings.fail("draws", `${id}: ${error.message}`);
    }
  }

  /** The receipt's own check has shown that the draw holds. */
  #use(draw: string, file: number): void {
    const other = this.#used.get(draw);
    if (other !== undefined) {
      const [id, before] = [this.#read.idOf(file), this.#read.idOf(other)];
      this.#findings.fail("draws", `${id}: the draw ${draw} is that of ${before} already`);
    }
    this.#used.set(draw, file);
  }

  #isLost({ origin, logIndex }: KeptDraw): boolean {
    return this.#log.rollbacks.some(({ ended, size }) => ended === origin && logIndex >= size);
  }

  /** The agent handed the declaration in again, and the draw is where it is now. */
  async #useLost(file: number): Promise<void> {
    const draw = await this.#read.drawAt(file);
    if (draw === null) return;
    const again = this.#byBody.get(draw.bodySha256);
    this.#use(again === undefined ? draw.eventId : this.#read.idOf(again), file);
  }

  /** Checks that no backup is missing that the log has, and whose removal it did not announce. */
  async #requireAll(file: number): Promise<void> {
    const bundle = await this.#read.eventAt(file);
    const missing = this.#backups.missingIn(bundle, declarationIn(bundle).draw);
    if (missing !== null) this.#findings.fail("draws", `${bundle.leaf.id}: ${missing}`);
  }

  /**
   * An agent that draws again while a draw has no result may do so until the result suits it. It
   * may if it shows that the drawn backup is gone. Returns the draws without a result.
   */
  async #requireGone(order: Uint32Array): Promise<{ count: number; named: string[] }> {
    const open = { count: 0, named: [] as string[] };
    const { file, group } = this.#draws;
    const nextOf = nextInGroup(order, (n) => group.at(n));
    for (const n of order) {
      const id = this.#read.idOf(file.at(n));
      if (this.#used.has(id)) continue;
      const draw = await this.#read.eventAt(file.at(n));
      const { sourceId } = declarationIn(draw).draw;
      open.count += 1;
      if (open.named.length < MAX_NAMED) open.named.push(`${id} of ${sourceId}`);
      const next = nextOf[n];
      if (next === undefined || next === NONE) continue;
      const again = await this.#read.eventAt(file.at(next));
      if (await this.#isGone(draw, again)) continue;
      this.#findings.leaveOpen(
        "draws",
        `${again.leaf.id} draws again for ${sourceId}, and ${id} has no result: whoever may repeat a draw can choose`,
      );
    }
    return open;
  }

  /**
   * Whether the later draw shows which backup the earlier one had chosen, and the log has that
   * backup's removal. Where the log lost entries, the removal may be one of them.
   */
  async #isGone(draw: EventBundle, again: EventBundle): Promise<boolean> {
    const backup = await goneBackup(draw, again, this.#log.logKey);
    if (backup === null) return false;
    return (
      this.#log.rollbacks.length > 0 ||
      mayBeAskedBefore(draw, this.#log.from) ||
      this.#backups.isRemovedFor(again, backup)
    );
  }
}

const NONE = 0xffff_ffff;

/** For each of these numbers, the next one of its group in this order. */
function nextInGroup(order: Uint32Array, groupOf: (n: number) => number): Uint32Array {
  const next = new Uint32Array(order.length).fill(NONE);
  const last = new Map<number, number>();
  for (const n of order) {
    const before = last.get(groupOf(n));
    if (before !== undefined) next[before] = n;
    last.set(groupOf(n), n);
  }
  return next;
}

function declarationIn({ envelope }: EventBundle): { draw: DeclaredDraw; payload: Uint8Array } {
  const { payload } = envelopeFromJson(envelope);
  return { draw: declaredDraw(payload), payload };
}

/** The backup of the earlier draw that the later one shows and leaves out, or null. */
async function goneBackup(
  draw: EventBundle,
  again: EventBundle,
  logKey: NoteVerifier,
): Promise<string | null> {
  const { candidates, replaces } = declarationIn(again).draw;
  if (replaces === null || replaces.event_id !== draw.leaf.id) return null;
  const { hashes, checkpoint, secret, backup_id } = replaces;
  const statement = toBase64(declarationIn(draw).payload);
  const { leaf, inclusion_proof } = draw;
  const { log_index } = inclusion_proof;
  try {
    const shown = await openDraw({ v: 1, statement, leaf, log_index, hashes, checkpoint, secret }, logKey);
    return shown.backupId === backup_id && !candidates.includes(backup_id) ? backup_id : null;
  } catch (error) {
    if (error instanceof ProofError) return null;
    throw error;
  }
}
