import { createWrongMethodReply } from '../api/routes.ts';
import { errorReply, successReply, type Reply } from '../api/responses.ts';
import { SandboxError } from '../platform/sandbox-error.ts';
import type { Sandbox } from '../sandbox.ts';
import { controlPath } from './endpoints.ts';

const namePattern = /^[a-z0-9-]{1,40}$/;
const credentialPattern = /^(?:sk|jwt)_sandbox_([a-z0-9-]{1,40})$/;
const pathPattern = new RegExp(`^${controlPath}worlds(?:/([^/]*)(/.*)?)?$`);

/** Called with each new world; the function that it returns is called when the world is removed. */
export type OnWorld = (name: string, world: Sandbox) => () => void;

interface World {
  readonly sandbox: Sandbox;
  readonly dispose: () => void;
}

/** The isolated worlds of a server by their names, and the sandbox that is the default one. */
export class Worlds {
  readonly #main: Sandbox;
  /** Whether there are others than the default one. */
  readonly isEnabled: boolean;
  readonly #onWorld: OnWorld;
  readonly #worlds = new Map<string, World>();

  constructor(main: Sandbox, isEnabled: boolean, onWorld: OnWorld = () => () => {}) {
    this.#main = main;
    this.isEnabled = isEnabled;
    this.#onWorld = onWorld;
  }

  /** The world of a credential; the default one for any other. */
  select(token: string | undefined): Sandbox {
    const name = credentialPattern.exec(token ?? '')?.[1];
    return name === undefined || !this.isEnabled ? this.#main : this.get(name);
  }

  /** The world of a name, made at its first use. */
  get(name: string): Sandbox {
    if (`sk_sandbox_${name}` === this.#main.apiKey) return this.#main;
    const world = this.#worlds.get(name);
    if (world !== undefined) return world.sandbox;
    const sandbox = this.#main.createWorld(name);
    this.#worlds.set(name, { sandbox, dispose: this.#onWorld(name, sandbox) });
    return sandbox;
  }

  /**
   * Finds the sandbox that a control request is for, and the path of the request in it; a reply if the request
   * is for the worlds themselves, or is not valid.
   */
  route(method: string, pathname: string): { sandbox: Sandbox; path: string } | Reply {
    const match = pathPattern.exec(pathname);
    if (match === null) return { sandbox: this.#main, path: pathname };
    const [, name, path] = match;
    if (!this.isEnabled) return errorReply(worldsDisabledError());
    if (name === undefined) {
      if (method !== 'GET') return createWrongMethodReply(method, [{ method: 'GET' }]);
      return successReply(200, [...this.#worlds.keys()]);
    }
    if (!namePattern.test(name)) return errorReply(invalidNameError(name));
    if (path !== undefined) {
      return { sandbox: this.get(name), path: controlPath.slice(0, -1) + path };
    }
    if (method !== 'DELETE') return createWrongMethodReply(method, [{ method: 'DELETE' }]);
    return this.#remove(name) ? successReply(204, undefined) : errorReply(unknownWorldError(name));
  }

  #remove(name: string): boolean {
    const world = this.#worlds.get(name);
    if (world === undefined) return false;
    this.#worlds.delete(name);
    // No timer may hold it, and those who follow its log or its changes hear of the end.
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
