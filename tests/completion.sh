#!/bin/bash
# Completion in real shells: subcommands, recipes (including the user's own), variants, findings and files; no internal commands.
. "$(dirname "$0")/common.inc"
mkdir -p "$t/bin" "$XDG_CONFIG_HOME/wheelsmith/recipes" "$t/work/folder"
ln -s "$wheelsmith" "$t/bin/wheelsmith"
export PATH=$t/bin:$PATH
printf 'name = "my-own-recipe"\nsummary = "mine"\n[source]\nsdist = "x"\n[variant.cpu]\n' >"$XDG_CONFIG_HOME/wheelsmith/recipes/my-own-recipe.toml"
cd "$t/work"
touch a-file.whl
for shell in bash zsh fish; do
  run completion $shell
  expect 0 $status
  cp "$t/out" "$t/$shell"
done

# in_bash WORD…: the completions that bash offers for the last word.
cat >"$t/ask.bash" <<'BASH'
source "$1"
shift
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMP_LINE="$*" COMP_POINT=${#COMP_LINE}
COMPREPLY=()
_wheelsmith wheelsmith "${!#}" "${@: -2:1}"
printf '%s\n' "${COMPREPLY[@]}"
BASH
in_bash() { bash "$t/ask.bash" "$t/bash" wheelsmith "$@"; }
# has WORD LIST, lacks WORD LIST
has() { grep -qxF -e "$1" <<<"$2" || fail "no $1 in: $(paste -sd' ' - <<<"$2")"; }
lacks() { ! grep -qxF -e "$1" <<<"$2" || fail "$1 is offered"; }

all=$(in_bash "")
for command in build plan doctor inspect check recipe config help; do has "$command" "$all"; done
for command in step confine relay governor complete; do lacks "$command" "$all"; done
expect "build builds" "$(in_bash bui | paste -sd' ' -)"
has show "$(in_bash recipe "")"
has set "$(in_bash config "")"
has texture "$(in_bash build t)"
has my-own-recipe "$(in_bash build my)"
has a-file.whl "$(in_bash check a)"
has texture "$(in_bash recipe show te)"
lacks a-file.whl "$(in_bash recipe show a)"
expect "cpu cuda rocm" "$(in_bash build x --variant "" | paste -sd' ' -)"
expect "cpu,cuda" "$(in_bash build x --variant cpu,cud | paste -sd' ' -)"
expect "cuda" "$(in_bash build x --variant = cud | paste -sd' ' -)"
has record-missing "$(in_bash check --explain rec)"
has H100 "$(in_bash check --gpu H1)"
has folder "$(in_bash build -o f)"
lacks a-file.whl "$(in_bash build -o a)"
has --variant "$(in_bash build --v)"
has jobs "$(in_bash config set j)"
has build "$(in_bash help b)"
has zsh "$(in_bash completion z)"
has a-file.whl "$(in_bash run -- ls a)"

if command -v fish >/dev/null; then
  in_fish() { fish --no-config -c "source $t/fish; complete -C \"\$argv\"" "$*" | cut -f1; }
  has build "$(in_fish wheelsmith b)"
  lacks step "$(in_fish wheelsmith st)"
  has my-own-recipe "$(in_fish wheelsmith build my)"
  has cuda "$(in_fish wheelsmith build x --variant cu)"
  has a-file.whl "$(in_fish wheelsmith check a)"
else
  echo "no fish: skipped"
fi

if command -v zsh >/dev/null; then
  # A shell on a pseudo-terminal whose completion widget prints its completions.
  cat >"$t/ask.zsh" <<'ZSH'
zmodload zsh/zpty
zpty z zsh -f -i
zpty -w z "PS1=; cd $PWD; fpath=($t/zfunc \$fpath); autoload -U compinit; compinit -u -d $t/zcompdump; compadd () { builtin compadd -O found \"\$@\" 2>/dev/null; print -l -- OFFER-\$^found; builtin compadd \"\$@\" }; bindkey '^I' complete-word; print REA''DY"
zpty -r z line '*READY*'
zpty -w -n z "$1"$'\t'
sleep 2
zpty -w -n z $'\C-c\C-u'
zpty -w z "print DO''NE"
while zpty -r z line; do print -r -- ${line%$'\r\n'}; [[ $line == *DONE* ]] && break; done
zpty -d z
ZSH
  mkdir -p "$t/zfunc"
  cp "$t/zsh" "$t/zfunc/_wheelsmith"
  in_zsh() { t=$t timeout 60 zsh -f "$t/ask.zsh" "$1" | sed -n 's/^.*OFFER-\([^[:cntrl:]]*\).*$/\1/p'; }
  has build "$(in_zsh 'wheelsmith b')"
  lacks step "$(in_zsh 'wheelsmith s')"
  has my-own-recipe "$(in_zsh 'wheelsmith build my')"
  has cuda "$(in_zsh 'wheelsmith build x --variant cu')"
else
  echo "no zsh: skipped"
fi
