export function forgetSettings(environment?: NodeJS.ProcessEnv, isKept?: (name: string) => boolean): void;
