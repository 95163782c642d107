import { expect, it } from "vitest";
import { allowing } from "./allow-remote-config.tsx";

it("the option goes to the program that attaches, inside the parentheses of the installer's line", () => {
  expect(allowing("npx attestore init --service https://localhost:8443")).toBe(
    "npx attestore init --service https://localhost:8443 --allow-remote-config",
  );
  expect(allowing('(cd "$(mktemp -d)" && sh install.sh --service https://a.example)')).toBe(
    '(cd "$(mktemp -d)" && sh install.sh --service https://a.example --allow-remote-config)',
  );
});
