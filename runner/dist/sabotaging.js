"use strict";
Object.defineProperty(exports, "__esModule", { value: true });
exports.doneMessage = void 0;
/** The method of the message by which a process says that it has done its sabotage to a try. */
exports.doneMessage = '__tas_sabotaged__';
