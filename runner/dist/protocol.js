"use strict";
// The messages between an attempt and the runner, as PROTOCOL.md tells them. Types only: nothing here runs.
Object.defineProperty(exports, "__esModule", { value: true });
exports.PROTOCOL = void 0;
exports.PROTOCOL = 1;
