// judgment-preferences, made by `prefs install-hooks --platform openclaw`: changes here are lost.
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";

const PROGRAM = [];
const MAIN_SESSION = /^agent:[^:]+:main$/; // others may be read by people who are not the owner

async function prefs(...words) {
  const [program, ...first] = PROGRAM;
  const limits = { timeout: 10_000, maxBuffer: 1 << 20 };
  return (await promisify(execFile)(program, [...first, ...words], limits)).stdout;
}

export default async function handler(event) {
  const session = event.sessionKey ?? "";
  try {
    if (event.type === "gateway") {
      await prefs("drain", "--platform", "openclaw");
    } else if (!MAIN_SESSION.test(session)) {
      return;
    } else if (event.type === "agent") {
      const content = await prefs("inject", "--platform", "openclaw", "--format", "text");
      const name = "PREFERENCES.md";
      const path = join(event.context.workspaceDir, name);
      if (content) event.context.bootstrapFiles.push({ name, path, content, missing: false });
    } else {
      await prefs("drain", "--platform", "openclaw", "--session", session);
    }
  } catch (error) {
    console.warn(`[judgment-preferences] ${error.message}`);
  }
}
