import { expect, test } from "vitest";
import { messageOf } from "./message.ts";

test("a mail's subject is one line, and nothing in it or in the text turns the direction of writing", () => {
  const mail = { to: "a@b.test", subject: "db\u202e\r\nBcc: x", text: "Hello\u001b[2J \u2066\nbye" };
  const message = messageOf(mail, { from: "Attestore <a@service.test>", id: "1" });
  expect(message.subject).toBe("db\\u202e\\u000d\\u000aBcc: x");
  expect(message.text).toBe("Hello\\u001b[2J \\u2066\nbye");
});
