/** For channels; the configuration has it without loading anything of theirs. @module */

export { upgradePath } from "../base/upgrade_path.ts";
