import { IgnorePatterns } from '../../base/ignore-patterns.ts';
import { isSecretFile, plainSegments } from '../../base/secret-files.ts';
import { splitWords } from '../../base/split-words.ts';
import { CAUTION_KINDS, type CautionKind } from '../message-parts.ts';

/** Files that cause programs to run, or that control which programs run and which calls are allowed, as `.gitignore` patterns. */
const PROTECTED_FILES: Readonly<Partial<Record<CautionKind, string>>> = {
  git: `
    .git git~[0-9] .gitattributes .gitmodules .gitconfig .lfsconfig .hg .hgrc .svn .husky .githooks lefthook*.y*ml
    .lefthook*.y*ml .pre-commit-config.y*ml .lintstagedrc*
  `,
  editor: `
    .vscode *.code-workspace .devcontainer .devcontainer.json .idea .vs .fleet .zed .cursor .mcp.json .vimrc .exrc
    .nvim.lua .nvimrc .dir-locals*.el
  `,
  workflow: `
    .github/workflows .github/actions action.y*ml .gitlab-ci*.y*ml .circleci .buildkite azure-pipelines*.y*ml
    Jenkinsfile* .travis.y*ml bitbucket-pipelines.y*ml .drone.y*ml .woodpecker* .forgejo .gitea
  `,
  settings: 'svc.json svc.jsonc .svc',
  shell: `
    .envrc* .env .env.* .bashrc* .bash_* .profile .profile.* .zshrc* .zshenv .zprofile .zlogin .zlogout .cshrc
    .tcshrc .kshrc .mkshrc .shrc .login .logout .inputrc config.fish fish/conf.d *profile.ps1 .xinitrc .xprofile
    .xsession* mise*.toml .mise*.toml .config/mise .tool-versions sitecustomize.py usercustomize.py .ssh
  `,
  // A lock file selects the code that is installed.
  package: `
    package.json .npmrc .yarnrc* .yarn .pnpmfile.* pnpm-workspace.yaml bunfig.toml deno.json* composer.json .pypirc
    pip.conf pip.ini .cargo/config* *.lock *.lockb *-lock.json *-lock.y*ml npm-shrinkwrap.json go.sum go.mod go.work
    Package.resolved Gemfile *.gemspec Pipfile requirements*.txt pyproject.toml setup.cfg Cargo.toml Podfile
    Package.swift mix.exs rebar.config pubspec.yaml Directory.Packages.props packages.config paket.dependencies
    flake.nix .bowerrc lerna.json nx.json turbo.json
  `,
  // Editors, language extensions and test runners start these, several as soon as they are saved. The list of
  // `chat.tools.edits.autoApprove` of VS Code is a part of it.
  build: `
    build.rs web.config server.xml *.csproj *.fsproj *.vbproj *.vcxproj *.proj *.targets *.props *.sln *.slnx
    *.pbxproj *.xcconfig global.json *.rsp Makefile GNUmakefile *.mk *.mak CMakeLists.txt *.cmake CMakePresets.json
    CMakeUserPresets.json meson.build configure.ac *.ninja BUILD.bazel WORKSPACE.bazel MODULE.bazel .bazelrc *.bzl
    .buckconfig SConstruct *.gradle *.gradle.kts gradlew* gradle.properties gradle/wrapper pom.xml .mvn mvnw*
    build.xml build.sbt project/*.sbt build.sc *.cabal stack.yaml Setup.hs build.zig justfile .justfile
    Taskfile*.y*ml Rakefile *.rake Guardfile Capfile Fastfile Vagrantfile Dockerfile* *.dockerfile Containerfile*
    docker-compose*.y*ml compose*.y*ml Tiltfile Procfile* setup.py conftest.py noxfile.py fabfile.py tasks.py
    tox.ini pytest.ini .coveragerc *.pth .pylintrc pylintrc .flake8 mypy.ini .mypy.ini .pythonrc* ruff.toml
    .ruff.toml eslint.config.* .eslintrc* prettier.config.* .prettierrc* stylelint.config.* .stylelintrc*
    biome.json* .oxlintrc* tslint.json .markdownlint* commitlint.config.* .commitlintrc* .releaserc*
    release.config.* .czrc lint-staged.config.* *.config.js *.config.cjs *.config.mjs *.config.ts *.config.cts
    *.config.mts .babelrc* .mocharc* .nycrc* .c8rc* .taprc .swcrc tsconfig*.json jsconfig*.json karma.conf*
    wdio.conf* gulpfile* Gruntfile* Jakefile* .rubocop*.y*ml .rspec .irbrc .pryrc .perltidyrc .perlcriticrc
    .clang-tidy .clangd compile_commands.json .gdbinit .lldbinit .golangci.* .credo.exs .formatter.exs phpunit.xml*
    phpstan*.neon* psalm.xml* .php-cs-fixer*.php detekt.y*ml rustfmt.toml clippy.toml .luarc*
  `,
  // They instruct models, or configure which programs other agents run without a question.
  agent: `
    AGENTS.md AGENTS.*.md AGENT.md CLAUDE.md CLAUDE.*.md GEMINI.md QWEN.md CONVENTIONS.md copilot-instructions.md
    *.instructions.md *.prompt.md *.chatmode.md *.agent.md SKILL.md .github/instructions .github/prompts
    .github/chatmodes .github/agents .github/copilot .github/hooks .claude .claude.json .gemini .codex .opencode
    opencode.json* .cursorrules .windsurf .windsurfrules .clinerules .cline .roo .roomodes .roorules* .kilocode
    .aider* .amazonq .kiro .junie .trae .augment .augment-guidelines .continue .continuerc.json .goosehints .goose
    .qwen .factory .agents .agent .rules mcp.json mcp_config.json .copilot .crush
  `,
};

const PROTECTED_PATTERNS = CAUTION_KINDS.map((kind) => {
  const anywhere = splitWords(PROTECTED_FILES[kind] ?? '').map((pattern) =>
    pattern.includes('/') ? `**/${pattern}` : pattern,
  );
  return { kind, patterns: new IgnorePatterns(anywhere.join('\n')) };
});

/** Why access to a file needs confirmation each time; undefined: it does not. @param path absolute or relative. */
export function cautionKind(path: string, access: 'read' | 'write'): CautionKind | undefined {
  if (access === 'write') {
    const plain = plainSegments(path).join('/');
    const guard = PROTECTED_PATTERNS.find(({ patterns }) => plain !== '' && patterns.ignores(plain));
    if (guard) return guard.kind;
  }
  return isSecretFile(path) ? 'secret' : undefined;
}
