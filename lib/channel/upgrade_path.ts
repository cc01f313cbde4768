/** For channels; the configuration has it without loading anything of theirs. @module */

export { upgradePath } from "../upgrade_path.ts";
