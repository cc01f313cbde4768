/**
 * The Homebrew formula of a release.
 *
 * @module
 */

import { VERSION } from "../cli/version.ts";
import { selfExtractingFileName, TARGETS } from "./targets.ts";

/** The file. */
export const FORMULA = "service.rb";

/** Its text. `sums`: checksums by the names of files; `url`: of the folder that has them. */
export function formula(sums: ReadonlyMap<string, string>, url: string): string {
  return `class Service < Formula
  desc "Self-hosted agent runtime"
  homepage "${url.replace(/(\/releases)?\/download\/.*/, "")}"
  version "${VERSION}"
  license "MIT"

${platforms("macos", "arm", "intel")}
${platforms("linux", "arm", "intel")}
  def install
    bin.install Dir["service-*"].first => "service"
  end

  service do
    run [opt_bin/"service", "gateway"]
    keep_alive successful_exit: false
    log_path var/"log/service.log"
    error_log_path var/"log/service.log"
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/service --version")
  end
end
`;

  function platforms(system: string, ...cpus: ("arm" | "intel")[]): string {
    const each = cpus.map((cpu) => {
      const name = `${system}-${cpu === "arm" ? "arm64" : "x64"}`;
      const file = selfExtractingFileName(TARGETS.find((target) => target.name === name)!);
      const sha256 = sums.get(file);
      if (sha256 === undefined) return "";
      return `    on_${cpu} do\n      url "${url}/${file}"\n      sha256 "${sha256}"\n    end\n`;
    });
    return `  on_${system} do\n${each.join("")}  end\n`;
  }
}
