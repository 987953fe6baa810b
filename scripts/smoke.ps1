# Tries a wheel for Windows on a real Windows, by the same checks as scripts/smoke: new environments,
# new processes, real delegation, planted DLLs, and the negative controls. Needs CPython 3.10 to 3.14 for
# x86-64 and pip's package index. Untried: the checks ran under Wine so far (docs/windows.md).
# usage: powershell -ExecutionPolicy Bypass -File scripts\smoke.ps1 WHEEL [PYTHON]
param(
  [Parameter(Mandatory = $true)][string]$Wheel,
  [string]$Python = "python"
)
$ErrorActionPreference = "Stop"
$root = Split-Path -Parent $PSScriptRoot
if (-not (Test-Path -LiteralPath $Wheel -PathType Leaf)) {
  Write-Error "there is no wheel ${Wheel}: scripts/wheel --windows builds one on Linux"
}
$wheelFile = (Resolve-Path -LiteralPath $Wheel).Path
# The checks themselves need NumPy; they get an environment of their own for it.
$tools = Join-Path ([IO.Path]::GetTempPath()) ("pteron-smoke-" + [Guid]::NewGuid())
try {
  & $Python -m venv $tools
  if ($LASTEXITCODE -ne 0) { throw "$Python makes no environment" }
  $toolsPython = Join-Path $tools "Scripts\python.exe"
  & $toolsPython -m pip install --quiet --disable-pip-version-check numpy
  if ($LASTEXITCODE -ne 0) { throw "pip could not install NumPy" }
  & $toolsPython (Join-Path $root "scripts\smoke") --python $Python --self-test $wheelFile
  $status = $LASTEXITCODE
} finally {
  if (Test-Path -LiteralPath $tools) { Remove-Item -LiteralPath $tools -Recurse -Force }
}
exit $status
