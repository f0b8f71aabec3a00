import { createWrongMethodReply } from '../api/routes.ts';
import { errorReply, successReply, type Reply } from '../api/responses.ts';
import { SandboxError } from '../platform/sandbox-error.ts';
import type { Sandbox } from '../sandbox.ts';
import { controlPath } from './endpoints.ts';

const namePattern = /^[a-z0-9-]{1,40}$/;
const credentialPattern = /^(?:sk|jwt)_sandbox_([a-z0-9-]{1,40})$/;
const pathPattern = new RegExp(`^${controlPath}worlds(?:/([^/]*)(/.*)?)?$`);

/** Called for each new world (isolated sandbox). Returns what to call at the world's removal. */
export type OnWorld = (name: string, world: Sandbox) => () => void;

interface World {
  readonly sandbox: Sandbox;
  readonly dispose: () => void;
}

/** All sandboxes of a server: the default one, and an isolated one (a "world") for each name. */
export class Worlds {
  readonly #main: Sandbox;
  /** Whether a credential can select a world. If not, every request reaches the default sandbox. */
  readonly isEnabled: boolean;
  readonly #onWorld: OnWorld;
  readonly #worlds = new Map<string, World>();

  constructor(main: Sandbox, isEnabled: boolean, onWorld: OnWorld = () => () => {}) {
    this.#main = main;
    this.isEnabled = isEnabled;
    this.#onWorld = onWorld;
  }

  /** Returns the world that a credential names, or the default sandbox if it names none. */
  select(token: string | undefined): Sandbox {
    const name = credentialPattern.exec(token ?? '')?.[1];
    return name === undefined || !this.isEnabled ? this.#main : this.get(name);
  }

  /** Returns the world with this name. At the first use of the name, the world is created. */
  get(name: string): Sandbox {
    if (`sk_sandbox_${name}` === this.#main.apiKey) return this.#main;
    const world = this.#worlds.get(name);
    if (world !== undefined) return world.sandbox;
    const sandbox = this.#main.createWorld(name);
    this.#worlds.set(name, { sandbox, dispose: this.#onWorld(name, sandbox) });
    return sandbox;
  }

  /**
   * Finds the sandbox that a control request is for, and the path without the world's name. Returns
   * a response instead if the request lists or removes worlds, or is not valid.
   */
  route(method: string, pathname: string): { sandbox: Sandbox; path: string } | Reply {
    const match = pathPattern.exec(pathname);
    if (match === null) return { sandbox: this.#main, path: pathname };
    const [, name, pathInWorld] = match;
    if (!this.isEnabled) return errorReply(worldsDisabledError());
    // The path /_sandbox/worlds has no name.
    if (name === undefined) {
      if (method !== 'GET') return createWrongMethodReply(method, [{ method: 'GET' }]);
      return successReply(200, [...this.#worlds.keys()]);
    }
    if (!namePattern.test(name)) return errorReply(invalidNameError(name));
    if (pathInWorld !== undefined) {
      return { sandbox: this.get(name), path: controlPath.slice(0, -1) + pathInWorld };
    }
    // The path ends with the name, so the request is about the world itself.
    if (method !== 'DELETE') return createWrongMethodReply(method, [{ method: 'DELETE' }]);
    return this.#remove(name) ? successReply(204, undefined) : errorReply(unknownWorldError(name));
  }

  #remove(name: string): boolean {
    const world = this.#worlds.get(name);
    if (world === undefined) return false;
    this.#worlds.delete(name);
    // Resetting the removed world cancels its timers, which would keep the world in memory. The
    // reset also reaches callers who follow the log or the changes of the world.
    world.sandbox.reset();
    world.dispose();
    return true;
  }
}

const worldsDisabledError = () =>
  new SandboxError('This sandbox has one world. Start it with --worlds for one for each key.', {
    code: 'not_found',
    status: 404,
  });

const invalidNameError = (name: string) =>
  new SandboxError(
    `The name of a world is 1 to 40 lower-case letters, digits and hyphens, not ${JSON.stringify(name.slice(0, 80))}.`,
    { code: 'validation_failed', status: 422 },
  );

const unknownWorldError = (name: string) =>
  new SandboxError(`There is no world ${JSON.stringify(name)}: its key was not used yet.`, {
    code: 'world_not_found',
    status: 404,
  });
