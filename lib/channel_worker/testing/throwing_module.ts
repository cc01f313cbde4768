/** Cannot be loaded. */

throw new Error("this module throws");
