# Installs nothing by itself: says what is missing, builds Daybook and opens it. Written for Windows 11; not run there yet.
$ErrorActionPreference = 'Stop'
Set-Location (Join-Path $PSScriptRoot '..')

function Need($program, $how) {
  if (-not (Get-Command $program -ErrorAction SilentlyContinue)) { Write-Error "$program is missing. $how" }
}
function Run($program) {
  & $program @args
  if ($LASTEXITCODE -ne 0) { throw "$program $args ended with $LASTEXITCODE" }
}

Need cargo 'Install the Rust toolchain with the Visual Studio build tools (Desktop development with C++).'
Need node 'Install Node.js 22.12 or newer: winget install OpenJS.NodeJS.LTS'
Need npm 'It comes with Node.js: winget install OpenJS.NodeJS.LTS'

Run npm --prefix ui ci --no-audit --no-fund
Run npm --prefix ui run build
Run cargo build --locked --profile start -p daybook-desktop
$target = if ($env:CARGO_TARGET_DIR) { $env:CARGO_TARGET_DIR } else { 'target' }
& (Join-Path $target 'start\daybook-desktop.exe')
