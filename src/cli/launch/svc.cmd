@echo off
rem svc in the terminals of VS Code. SVC_NODE is the program that runs its extensions, which is a Node too.
setlocal
set ELECTRON_RUN_AS_NODE=1
if "%SVC_NODE%"=="" set SVC_NODE=node
"%SVC_NODE%" "%~dp0..\cli.js" %*
