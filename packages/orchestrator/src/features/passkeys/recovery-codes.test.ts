/** How somebody who has a passkey signs in without it: recovery codes, and who guesses them. */
import { describe, expect, test } from "vitest";
import { ownAddress } from "../../../test/client.ts";
import {
  errorOf,
  mailedCode,
  newAttempt,
  org,
  post,
  register,
  service,
  subjects,
  usePasskeyService,
  user,
  verify,
  withPasskey,
} from "../../../test/passkey-sign-in.ts";
import { RATE_LIMITS } from "../../platform/http/route/rate-limits.ts";

usePasskeyService();

describe("a person with a passkey", () => {
  test("is not signed in by the code from their mailbox alone; with a recovery code they are, once", async () => {
    const { codes } = await withPasskey();
    const attempt = newAttempt();
    const code = await mailedCode(attempt);
    const [first = ""] = codes;
    expect(errorOf(await verify({ code, attempt }))).toEqual([401, "recovery_code_required"]);
    // The refusal has left the code from the mailbox as it was.
    const typed = ` ${first.toLowerCase().replaceAll("-", " ")} `;
    expect((await verify({ code, attempt, recovery_code: typed })).status).toBe(200);
    const next = newAttempt();
    const again = { code: await mailedCode(next), attempt: next, recovery_code: first };
    expect(errorOf(await verify(again))).toEqual([401, "recovery_code_invalid"]);
    expect((await user.get("/api/auth/passkeys")).json["recovery_codes_left"]).toBe(9);
    const mail = (await service.mails(user.email)).find(({ subject }) => subject.includes("was used"));
    expect(mail?.text).toContain("9 recovery codes are left");
  });

  test("cannot be distinguished from others without the code from the mailbox", async () => {
    const without = await service.signIn(org, "auditor");
    await withPasskey();
    const answers = [];
    for (const email of [user.email, without.email, "nobody@example.org"]) {
      const attempt = newAttempt();
      const asked = await post("/api/auth/login", { email, attempt });
      for (const recovery of [{}, { recovery_code: "AAAA-AAAA-AAAA-AAAA" }]) {
        const tried = await post("/api/auth/verify", { email, attempt, code: "AAAA-AAAA", ...recovery });
        const { request_id: _, ...body } = tried.json;
        answers.push([asked.status, asked.json, tried.status, body]);
      }
    }
    for (const answer of answers) expect(answer).toEqual(answers[0]);
  });

  test("five wrong recovery codes burn the code from the mailbox; a stranger's guesses burn nothing", async () => {
    const { codes } = await withPasskey();
    const attempt = newAttempt();
    const code = await mailedCode(attempt);
    const wrong = "AAAA-BBBB-CCCC-DDDD";
    // Without the right code from the mailbox, or from another attempt.
    for (let n = 0; n < 6; n++)
      expect(
        errorOf(await verify({ code: "AAAA-AAAA", attempt: newAttempt(), recovery_code: wrong })),
      ).toEqual([401, "code_invalid"]);
    for (let n = 0; n < 4; n++)
      expect(errorOf(await verify({ code, attempt, recovery_code: wrong }))).toEqual([
        401,
        "recovery_code_invalid",
      ]);
    const next = newAttempt();
    const burned = await mailedCode(next);
    expect((await verify({ code, attempt, recovery_code: codes[0] })).status).toBe(200);
    for (let n = 0; n < 5; n++) await verify({ code: burned, attempt: next, recovery_code: wrong });
    expect(errorOf(await verify({ code: burned, attempt: next, recovery_code: codes[1] }))).toEqual([
      401,
      "code_invalid",
    ]);
  });

  test("guesses are limited by person and network, so that a stranger's lock nobody out", async () => {
    const { codes } = await withPasskey();
    const from = ownAddress();
    const { limit } = RATE_LIMITS.verify_email;
    const guess = { code: "AAAA-AAAA", attempt: newAttempt(), recovery_code: "AAAA-BBBB-CCCC-DDDD" };
    for (let n = 0; n < limit; n++) expect((await verify(guess, { from })).status).toBe(401);
    expect(errorOf(await verify(guess, { from }))).toEqual([429, "rate_limited"]);
    const attempt = newAttempt();
    const code = await mailedCode(attempt);
    expect((await verify({ code, attempt, recovery_code: codes[0] })).status).toBe(200);
  });

  test("makes new recovery codes, and the earlier ones stop working", async () => {
    const { codes } = await withPasskey();
    expect(new Set(codes).size).toBe(10);
    for (const code of codes) expect(code).toMatch(/^([A-Z0-9]{4}-){3}[A-Z0-9]{4}$/);
    const made = await user.post("/api/auth/recovery-codes");
    expect(made.status).toBe(201);
    const [fresh] = made.json["recovery_codes"] as string[];
    const attempt = newAttempt();
    const code = await mailedCode(attempt);
    const old = await verify({ code, attempt, recovery_code: codes[3] });
    expect(errorOf(old)).toEqual([401, "recovery_code_invalid"]);
    expect((await verify({ code, attempt, recovery_code: fresh })).status).toBe(200);
    expect(await subjects()).toContain("New recovery codes for your Attestore account");
    const { rows } = await service.pool.query<{ kept: string }>(
      "select c::text as kept from recovery_codes as c",
    );
    for (const secret of [...codes, fresh]) expect(JSON.stringify(rows)).not.toContain(secret);
  });

  test("gets recovery codes with the first passkey only, and none without one", async () => {
    expect(errorOf(await user.post("/api/auth/recovery-codes"))).toEqual([409, "conflict"]);
    await withPasskey();
    const second = await register(user);
    expect([second.status, second.json["recovery_codes"]]).toEqual([201, null]);
  });
});
